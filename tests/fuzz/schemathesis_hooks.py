"""What the document cannot say: keys are used once, check digits hold, and deliveries stay at home."""

import os
import re
from itertools import count

import requests
import schemathesis

RUN = os.environ["PIXMESH_FUZZ_RUN"]
GATEWAY = os.environ["PIXMESH_FUZZ_GATEWAY"]
KEY = os.environ["PIXMESH_FUZZ_KEY"]
WEBHOOKS_KEY = os.environ["PIXMESH_FUZZ_WEBHOOKS_KEY"]

# An application may have 100 endpoints; the older ones make room.
ENDPOINTS_MAX = 60
TIMEOUT_SECONDS = 10

PIX_KEYS = {
    "cpf": "529.982.247-25",
    "cnpj": "11.222.333/0001-81",
    "email": "ana@example.com",
    "phone": "+5511987654321",
    "random": "123e4567-e89b-42d3-a456-426614174000",
}

calls = count()
endpoints = []


@schemathesis.hook
def before_call(context, case, kwargs):
    number = next(calls)
    use_key_once(case, number)
    keep_endpoints_apart(case, kwargs)
    body = case.body
    if isinstance(body, dict):
        keep_deliveries_at_home(body)
        # One in four stays as it was made up, so that refusals are met as well.
        if number % 4 != 0:
            make_acceptable(body)


def use_key_once(case, number):
    """A key that was sent before would answer an older resource, whatever else stands in the call."""
    for name, value in (case.headers or {}).items():
        if name.lower() != "idempotency-key" or not isinstance(value, str):
            continue
        if re.fullmatch(r"[\x20-\x7e]{8,255}", value) and value.strip():
            case.headers[name] = f"fuzz-{RUN}-{number:08}"


def keep_endpoints_apart(case, kwargs):
    """Endpoints of the application that makes charges would be told of every one of them."""
    if not case.path.startswith("/v1/webhooks"):
        return
    for headers in (case.headers, kwargs.get("headers")):
        for name, value in (headers or {}).items():
            if value == KEY:
                headers[name] = WEBHOOKS_KEY


def keep_deliveries_at_home(body):
    """Whatever URL could be accepted points to the development receiver."""
    for name in ("url", "webhook_url"):
        value = body.get(name)
        if not isinstance(value, str):
            continue
        bare = re.sub(r"[\x00-\x20]", "", value).lower()
        if bare.startswith("http"):
            body[name] = f"http://fuzz.receiver.example.com/{len(value)}"


def make_acceptable(body):
    customer = body.get("customer")
    if isinstance(customer, dict) and isinstance(customer.get("document"), str):
        customer["document"] = PIX_KEYS["cpf"]
    if isinstance(body.get("recipient_document"), str):
        body["recipient_document"] = PIX_KEYS["cpf"]
    kind = body.get("pix_key_type")
    if isinstance(kind, str) and kind in PIX_KEYS and isinstance(body.get("pix_key"), str):
        body["pix_key"] = PIX_KEYS[kind]
        # Small enough for the balance, unless it is wrong in itself.
        if isinstance(body.get("amount"), int) and body["amount"] > 500:
            body["amount"] = 500
    for name in ("url", "webhook_url"):
        value = body.get(name)
        if isinstance(value, str) and 0 < len(value) <= 2048:
            body[name] = f"http://fuzz.receiver.example.com/{len(value)}"


@schemathesis.hook
def after_call(context, case, response):
    if case.method.upper() != "POST" or response.status_code != 201:
        return
    if response.request.path_url.split("?")[0] != "/v1/webhooks":
        return
    endpoints.append(response.json()["id"])
    while len(endpoints) > ENDPOINTS_MAX:
        requests.delete(
            f"{GATEWAY}/v1/webhooks/{endpoints.pop(0)}",
            headers={"x-api-key": WEBHOOKS_KEY},
            timeout=TIMEOUT_SECONDS,
        )


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """`events` is an ill-formed id to the routes of one endpoint (decision 14), so their methods answer there too."""
    if response.request.path_url.split("?")[0] != "/v1/webhooks/events":
        return True
    method = response.request.method
    is_ill_formed_id = method in ("PATCH", "DELETE") and response.status_code == 404
    is_list_of_methods = method == "OPTIONS" and response.status_code == 405
    return not (is_ill_formed_id or is_list_of_methods)
