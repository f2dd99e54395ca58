"""What a host may say about the policy of the sandbox's frame."""

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.frame import inline_frame
from codemode_jupyter.sandbox.policy import frame_policy

OURS = "default-src 'none'; script-src 'nonce-relay' 'unsafe-eval'; worker-src blob:"


@pytest.mark.parametrize(
    ("directives", "policy"),
    [
        ("", OURS),
        ("default-src 'none'", OURS),
        (" ; default-src  'none' ; ", OURS),
        ("connect-src https://api.example.com", f"{OURS}; connect-src https://api.example.com"),
        (
            "CONNECT-SRC https://a.example:8443 wss://b.example",
            f"{OURS}; connect-src https://a.example:8443 wss://b.example",
        ),
        ("webrtc 'block'; form-action 'none'", f"{OURS}; webrtc 'block'; form-action 'none'"),
        ("upgrade-insecure-requests", f"{OURS}; upgrade-insecure-requests"),
        (
            "script-src 'wasm-unsafe-eval'",
            "default-src 'none'; script-src 'nonce-relay' 'unsafe-eval' 'wasm-unsafe-eval'; worker-src blob:",
        ),
    ],
)
def test_directives_are_added_to_ours(directives, policy):
    assert frame_policy(directives) == policy


@pytest.mark.parametrize(
    ("directives", "why"),
    [
        ("default-src *", "lifts"),
        ("default-src 'self'", "lifts"),
        ("default-src", "lifts"),
        ("connect-src *", "more than one origin"),
        ("connect-src https:", "more than one origin"),
        ("connect-src https://*.example.com", "more than one origin"),
        ("connect-src example.com", "more than one origin"),
        ("connect-src 'self'", "more than one origin"),
        ("script-src 'unsafe-inline'", "more than one origin"),
        ("script-src 'none'", "no program runs"),
        ("worker-src 'none'", "no program runs"),
        ("frame-src https://a.example", "go to an address"),
        ("child-src https://a.example", "go to an address"),
        ("sandbox allow-scripts", "no effect"),
        ("report-uri https://a.example", "no effect"),
        ("require-trusted-types-for 'script'", "do not run"),
        ("connect-src https://a.example; connect-src https://b.example", "named twice"),
        ("connect-src https://a.example, default-src *", "no directive"),
        ("img-src https://ä.example", "no directive"),
        ('img-src https://a.example"><script>', "more than one origin"),
        ("9-src x", "no directive"),
    ],
)
def test_what_would_open_or_break_the_frame_is_refused(directives, why):
    with pytest.raises(CodemodeError, match=why) as refusal:
        frame_policy(directives)
    assert refusal.value.code == "invalid_option"
    assert refusal.value.hint


def test_the_policy_stands_in_both_frames_and_cannot_leave_its_attribute():
    markup = inline_frame(frame_policy('form-action "><script>'))
    assert markup.count("form-action &quot;&gt;&lt;script&gt;") == 1
    assert markup.count("form-action &amp;quot;&amp;gt;") == 1
    assert '"><script>' not in markup
