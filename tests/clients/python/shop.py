"""A merchant's program: nothing of this repository but the client that was generated from /openapi.json."""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
import uuid

import httpx

from pix_client.api.account import get_account
from pix_client.api.balance import get_balance
from pix_client.api.charges import create_charge, get_charge, list_charges
from pix_client.api.payouts import create_payout, list_payouts
from pix_client.api.webhooks import list_webhook_events
from pix_client.client import AuthenticatedClient
from pix_client.models import (
    ChargeEvent,
    ChargeStatus,
    CreateCharge,
    CreateChargeCustomer,
    CreatePayout,
    DisputeEvent,
    Event,
    PaymentEvent,
    PixKeyType,
)

BASE_URL, API_KEY = os.environ["BASE_URL"], os.environ["API_KEY"]
SIMULATOR_URL, RECEIVER_URL = os.environ.get("SIMULATOR_URL"), os.environ["RECEIVER_URL"]
WEBHOOK_PATH, WEBHOOK_SECRET = os.environ["WEBHOOK_PATH"], os.environ["WEBHOOK_SECRET"]
POLL_SECONDS = float(os.environ.get("POLL_SECONDS", "30"))

client = AuthenticatedClient(BASE_URL, API_KEY, prefix="", auth_header_name="x-api-key")
CUSTOMER = CreateChargeCustomer(name="Ana Souza", email="ana@example.com", document="529.982.247-25")

KNOWN = {
    ChargeStatus.PROCESSING: "waiting",
    ChargeStatus.PENDING: "waiting",
    ChargeStatus.PAID: "paid",
    ChargeStatus.EXPIRED: "not paid",
    ChargeStatus.CANCELED: "not paid",
    ChargeStatus.FAILED: "not paid",
    ChargeStatus.REFUNDED: "returned",
    ChargeStatus.CHARGED_BACK: "returned",
    ChargeStatus.INFRACTION: "disputed",
}


def describe(status):
    """A status of tomorrow is a text that is not known: it is shown as it is."""
    return KNOWN.get(status, f"unknown ({status})")


def quick_start():
    order = uuid.uuid4()
    body = CreateCharge(
        amount=1000,
        reference=str(order),
        customer=CUSTOMER,
        webhook_url=f"http://shop.receiver.example.com{WEBHOOK_PATH}",
        webhook_secret=WEBHOOK_SECRET,
    )
    charge = create_charge.sync(client=client, body=body, idempotency_key=f"charge-{order}")
    print(f"charge is {charge.status}: {charge.pix.br_code[:6]}")
    if SIMULATOR_URL:
        httpx.post(f"{SIMULATOR_URL}/control/charges/{charge.id}/pay").raise_for_status()
    outcome = charge
    while describe(outcome.status) == "waiting":
        time.sleep(POLL_SECONDS)
        outcome = get_charge.sync(charge.id, client=client)
    print(f"charge is {outcome.status}")

    page = list_charges.sync(client=client, limit=1, status=ChargeStatus.PAID)
    print(f"newest paid is it: {page.data[0].id == charge.id}, more: {page.has_more}")

    body = CreatePayout(amount=500, pix_key_type=PixKeyType.EMAIL, pix_key="joao@example.com")
    payout = create_payout.sync(client=client, body=body, idempotency_key=f"payout-{order}")
    print(f"payout is {payout.status}")

    body = CreateCharge(amount=1, customer=CUSTOMER)
    refused = create_charge.sync_detailed(client=client, body=body, idempotency_key=f"small-{order}")
    print(f"refused: {refused.status_code.value} {refused.parsed.code}")
    receive_until("charge.pix.paid")


def read_deliveries():
    """The development receiver keeps what it gets; a shop of its own would be called instead."""
    return httpx.get(f"{RECEIVER_URL}/requests", params={"path": WEBHOOK_PATH}).json()["data"]


def receive_until(name):
    while True:
        lines = sorted(receive(delivery) for delivery in read_deliveries())
        if any(line.startswith(name) for line in lines):
            print("\n".join(lines))
            return
        time.sleep(POLL_SECONDS)


ENVELOPES = {"charge": ChargeEvent, "payment": PaymentEvent, "dispute": DisputeEvent}


def receive(delivery):
    """Verifies the raw bytes before it parses them, then takes an event by what it is about."""
    raw_body = base64.b64decode(delivery["body_base64"])
    expected = f"sha256={hmac.new(WEBHOOK_SECRET.encode(), raw_body, hashlib.sha256).hexdigest()}"
    if not hmac.compare_digest(expected, delivery["headers"].get("x-webhook-signature", "")):
        return "forged"
    body = json.loads(raw_body)
    event = ENVELOPES.get(body["resource"], Event).from_dict(body)
    if isinstance(event, ChargeEvent):
        return f"{event.event} of a charge: {describe(event.data.status)}"
    if isinstance(event, PaymentEvent):
        return f"{event.event} of a payout: {event.data.status}"
    if isinstance(event, DisputeEvent):
        return f"{event.event} of a dispute: {event.data.reason}"
    return f"{event.event}: taken and left alone"


def tomorrow():
    """Against an installation of tomorrow: nothing here is known today."""
    charge = get_charge.sync(uuid.uuid4(), client=client)
    print(f"charge is {describe(charge.status)}, by {charge.method}")
    payouts = list_payouts.sync(client=client)
    print(f"payouts are {' '.join(payout.status for payout in payouts.data)}")
    account = get_account.sync(client=client)
    print(f"account is {account.status}, {account.onboarding_status}")
    catalog = list_webhook_events.sync(client=client)
    print(f"catalog has {' '.join(entry.event for entry in catalog.data)}")
    refused = get_balance.sync_detailed(client=client)
    print(f"refused: {refused.status_code.value} {refused.parsed.code}")
    for delivery in read_deliveries():
        print(receive(delivery))


tomorrow() if sys.argv[1:] == ["tomorrow"] else quick_start()
