"""Fixtures of the CTC tests."""

import ctc_cases
import pytest


@pytest.fixture(scope="session", autouse=True)
def _interpreter_ends_with_the_tests():
    yield
    if ctc_cases.interpreter.cache_info().currsize:
        ctc_cases.interpreter().shutdown()
