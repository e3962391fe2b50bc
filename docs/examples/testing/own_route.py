import json

from scoped_registration.testing.requests import Reading, Request, Response, Say


class Lines:
    """A route that streams JSON lines, and reports errors with status 200."""

    def request(self, say: Say) -> Request:
        return Request("POST", "/lines", {"session": say.thread, "question": say.text})

    def read(self, response: Response) -> Reading:
        lines = [json.loads(line) for line in response.text.splitlines()]
        text = "".join(line.get("token", "") for line in lines)
        failed = any("error" in line for line in lines)
        return Reading(text, "an error in the stream" if failed else None)
