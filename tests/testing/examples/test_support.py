from scoped_registration.testing import AGUIRoute, Recorder
from scoped_registration.testing.agent_framework import RecordingChatClient
from scoped_registration.testing.plugin import IsolationProbe
from tests.testing.examples.support import create_app

USERS = [{"x-user": "alice"}, {"x-user": "bob"}]


def test_users_are_kept_apart(isolation_probe: IsolationProbe) -> None:
    recorder = Recorder()
    app = create_app(RecordingChatClient(recorder))
    isolation_probe(app, AGUIRoute("/support"), USERS, recorder=recorder)
