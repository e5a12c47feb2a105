"""Changes that break a promise of the small template's release, and what makes each acceptable."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.updates.small import Small

Change = Callable[[Small], None]


def changes(path: str, old: str, new: str) -> Change:
    """A change of one text in a file."""
    return lambda template: template.change(path, old, new)


def questionnaire(old: str, new: str) -> Change:
    """A change of one text in copier.yml."""
    return changes("copier.yml", old, new)


def moves(old: str, new: str) -> Change:
    """A file of projects gets another name."""
    return lambda template: template.rename(f"template/{old}", f"template/{new}")


def all_of(*several: Change) -> Change:
    """Several changes, one after the other."""

    def change(template: Small) -> None:
        for one in several:
            one(template)

    return change


def maps_store(mapped: str) -> Change:
    """The default of `store` goes by the old answer, which a question before it keeps."""
    kept = "store_before:\n  default: \"{{ store | default('') }}\"\n  when: false\n"
    return all_of(
        questionnaire("store:\n", f"{kept}store:\n"),
        questionnaire("  default: firestore\n", f'  default: "{{{{ {mapped} }}}}"\n'),
    )


OWN_PATHS = "    /app/job.py\n"
"""The end of the list of what an update leaves alone."""


@dataclass(frozen=True, slots=True)
class Break:
    """A change, what is said of it, and the row and the way, if it needs one, to be accepted."""

    change: Change
    said: str
    row: str
    way: Change | None = None


BREAKS = {
    "a question gets another name": Break(
        all_of(
            questionnaire("lease:\n", "silence:\n"),
            changes("template/app/main.py.jinja", "{{ lease }}", "{{ silence }}"),
        ),
        "the question lease is gone",
        "| question | `lease` | `silence` | nothing |",
        questionnaire("  default: 60\n", '  default: "{{ lease | default(60) }}"\n'),
    ),
    "a choice gets another name": Break(
        questionnaire("value: spanner", "value: cloud-spanner"),
        "an update would turn store: spanner into firestore\n",
        "| choice | `store: spanner` | `store: cloud-spanner` | nothing |",
        maps_store("{'spanner': 'cloud-spanner'}.get(store_before, 'firestore')"),
    ),
    "a choice is ruled out by another": Break(
        questionnaire(
            'validator: ""', "validator: \"{{ 'no' if platform == 'app-engine' else '' }}\""
        ),
        "an update would turn store: spanner into firestore (with platform=app-engine)",
        "| choice | `store: spanner` | `store: memorystore` on App Engine | move the records |",
        maps_store("'memorystore' if store_before == 'spanner' else 'firestore'"),
    ),
    "an answer gets a wider type": Break(
        questionnaire("type: int", "type: float"),
        "the answer to lease is of type int, and now of type float",
        "| type | `lease: int` | `lease: float` | nothing |",
    ),
    "a file gets another name": Break(
        moves("app/main.py.jinja", "app/start.py.jinja"),
        "the file app/main.py is gone\n",
        "| path | `app/main.py` | `app/start.py` | move what you have changed |",
    ),
    "a file is left out of projects that had it": Break(
        questionnaire(
            '    {% if store != "spanner" %}\n',
            '    {% if platform == "app-engine" %}\n    /app/main.py\n    {% endif %}\n'
            '    {% if store != "spanner" %}\n',
        ),
        "the file app/main.py is gone (with platform=app-engine)",
        "| path | `app/main.py` | App Engine has it | delete it |",
    ),
    "a shared file gets another name": Break(
        moves("Makefile", "own.mk"),
        "the file Makefile is gone, and an update would delete what the owner has written in it",
        "| path | `Makefile` | `own.mk` | move your commands, and delete it |",
        questionnaire(OWN_PATHS, f"{OWN_PATHS}    /Makefile\n"),
    ),
    "a shared file has no line for additions any more": Break(
        changes("template/Makefile", "# Your commands go below this line.\n", ""),
        'Makefile has no line "# Your commands go below this line." any more',
        "| line | `Makefile`, `# Your commands go below this line.` | `own.mk` | move yours |",
    ),
    "an owner's file becomes the template's": Break(
        all_of(questionnaire("  - /app/job.py\n", "  []\n"), questionnaire(OWN_PATHS, "")),
        "the owner's file app/job.py is the template's now",
        "| owner | `app/job.py` | the template's | settle the conflicts |",
    ),
    "a template's file becomes the owner's": Break(
        all_of(
            questionnaire("  - /app/job.py\n", "  - /app/job.py\n  - /app/main.py\n"),
            questionnaire(OWN_PATHS, f"{OWN_PATHS}    /app/main.py\n"),
        ),
        "the template's file app/main.py is the owner's now",
        "| owner | `app/main.py` | yours | nothing |",
    ),
    "there is a new file of the owner's": Break(
        all_of(
            lambda template: template.write("template/app/more.py", ""),
            questionnaire("  - /app/job.py\n", "  - /app/job.py\n  - /app/more.py\n"),
            questionnaire(OWN_PATHS, f"{OWN_PATHS}    /app/more.py\n"),
        ),
        "the new file app/more.py is the owner's, and no update brings it",
        "| owner | `app/more.py` | yours, if you want one | nothing |",
    ),
    "it asks for a newer Copier": Break(
        questionnaire("9.18.0", "9.20.0"),
        "it asks for Copier 9.18.0 or newer, and now for 9.20.0",
        "| copier | `9.18.0` | `9.20.0` | use Copier 9.20 or newer |",
    ),
}
"""Each kind of break that a version may make, with a row and a way."""

NEVER = {
    "an answer gets a type that does not take every old answer": (
        questionnaire("type: int\n  default: 60", "type: bool\n  default: true"),
        "type bool, which does not take every answer",
        "| type | `lease: int` | `lease: bool` | nothing |",
    ),
    "a question is not asked any more": (
        questionnaire("  default: 60\n", "  default: 60\n  when: false\n"),
        "an update would turn lease: 60 into nothing",
        "| choice | `lease: 60` | `lease: 60` | nothing |",
    ),
    "a choice becomes another one than UPGRADING.md says": (
        all_of(
            questionnaire("value: spanner", "value: cloud-spanner"),
            maps_store("{'spanner': 'cloud-spanner'}.get(store_before, 'firestore')"),
        ),
        "UPGRADING.md says `store: memorystore`",
        "| choice | `store: spanner` | `store: memorystore` | nothing |",
    ),
    "the list of files reads an answer that projects do not have": (
        all_of(
            questionnaire("lease:\n", 'network:\n  default: "no"\nlease:\n'),
            questionnaire('{% if store != "spanner" %}', '{% if network == "no" %}'),
        ),
        "'network' is undefined",
        "| question | `network` | new | nothing |",
    ),
    "a question is asked by an answer that projects do not have": (
        questionnaire("lease:\n", "lease:\n  when: '{{ network }}'\n"),
        "whether lease is asked: 'network' is undefined",
        "| question | `network` | new | nothing |",
    ),
    "a new question has no default": (
        questionnaire("lease:\n", "network:\n  type: str\nlease:\n"),
        "the question network has no default",
        "| question | `network` | new | nothing |",
    ),
    "a new question's default is none of its choices": (
        questionnaire("lease:\n", "network:\n  choices: [one, two]\n  default: no\nlease:\n"),
        "the default of network: False is refused",
        "| question | `network` | new | nothing |",
    ),
    "copies and updates ask for trust": (
        questionnaire("_subdirectory", "_tasks: [make]\n_subdirectory"),
        "_tasks in copier.yml makes every copy and update ask for --trust",
        "| copier | `9.18.0` | tasks | trust it |",
    ),
    "no file has the answers any more": (
        lambda template: template.write("template/{{ _copier_conf.answers_file }}.jinja", ""),
        "writes down what a project has answered",
        "| copier | `9.18.0` | no answers | nothing |",
    ),
    "the answers have another place": (
        questionnaire("_subdirectory", "_answers_file: .answers.yml\n_subdirectory"),
        "_answers_file is .answers.yml, where no update and no check looks",
        "| copier | `9.18.0` | another file | move it |",
    ),
    "an answer is secret": (
        questionnaire("type: int\n", "type: int\n  secret: true\n"),
        "the answer to lease is secret, so that no project remembers it",
        "| question | `lease` | secret | nothing |",
    ),
    "an update would write an owner's file": (
        questionnaire(OWN_PATHS, ""),
        "an update would write the owner's file app/job.py again",
        "| owner | `app/job.py` | yours | nothing |",
    ),
    "the template imports a new file of the owner's when it is loaded": (
        all_of(
            BREAKS["there is a new file of the owner's"].change,
            changes("template/app/serve.py", "def serve", "from app import more\n\n\ndef serve"),
        ),
        "app/serve.py imports the owner's app/more.py when it is loaded",
        "| owner | `app/more.py` | yours | nothing |",
    ),
}
"""What no row makes acceptable: the change, what is said of it, and a row that tries."""
