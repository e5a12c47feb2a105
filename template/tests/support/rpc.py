"""Faults of gRPC calls, injected between a client and its channel."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

import grpc

from tests.support.faults import Faults, Kind

CODES: Final = [code.name for code in grpc.StatusCode if code is not grpc.StatusCode.OK]
REFUSALS: Final = frozenset(
    {
        "INVALID_ARGUMENT",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "UNAUTHENTICATED",
        "FAILED_PRECONDITION",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
    }
)
"""Statuses that say for sure that nothing was done, or that a condition did not hold."""


class Injected(grpc.RpcError):
    """A status that never came from the store."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self._code = grpc.StatusCode[code]

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return "injected"

    def trailing_metadata(self) -> tuple[()]:
        return ()

    def result(self) -> NoReturn:
        """Fail as a call does; gRPC hands the error on as one where interceptors are stacked."""
        raise self

    def __iter__(self) -> NoReturn:
        raise self


class Interceptor(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    """Applies the planned fault to each call.

    `names` are short names of methods. The methods in `apart` have plans and logs of their own.
    """

    def __init__(
        self, faults: Faults, names: Mapping[str, str], apart: Mapping[str, Faults] | None = None
    ) -> None:
        self._faults = faults
        self._names = names
        self._apart = apart or {}

    def intercept_unary_unary(self, proceed: Any, details: Any, request: Any) -> Any:
        return self._intercept(proceed, details, request, lambda call: call.result())

    def intercept_unary_stream(self, proceed: Any, details: Any, request: Any) -> Any:
        return self._intercept(proceed, details, request, list)

    def _intercept(
        self,
        proceed: Callable[..., Any],
        details: Any,
        request: Any,
        receive: Callable[[Any], object],
    ) -> Any:
        method = details.method.rsplit("/", 1)[-1]
        faults = self._apart.get(method, self._faults)
        fault = faults.next(self._names.get(method, method))
        if fault is Kind.LOST_REQUEST:
            raise Injected(faults.code)
        if fault is Kind.REFUSED:
            raise Injected("PERMISSION_DENIED")
        call = proceed(details, request)
        if fault is Kind.LOST_ANSWER:
            receive(call)
            raise Injected(faults.code)
        return call
