# The template's answers, for the variables in variables_answers.tf.
project          = "my-project"
region           = "us-central1"
service          = "nightly-report"
description      = "Nightly report"
schedule         = "*/15 * * * *"
time_zone        = "Etc/UTC"
attempt_deadline = 180
lease            = 60
retention        = 48
