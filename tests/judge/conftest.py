"""What every test of a judge has."""

import pytest


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    """Nobody's key is sent to anybody, no proxy is asked, and no certificate but the tests' is known."""
    for name in ("SENSE7_JUDGE_KEY", "OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
