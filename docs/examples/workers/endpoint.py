from fastapi import FastAPI

from docs.examples.first_program import build_workflow, current_user
from scoped_registration import ScopedFactory
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder
from scoped_registration.stores.sqlite import SQLiteStore

app = FastAPI()
AGUIEndpointBuilder("support", path="/support").isolation(
    ScopedFactory(build_workflow, scope=current_user)
).persisted(SQLiteStore("threads.db", create_schema=True)).mount(app, workers="many")
