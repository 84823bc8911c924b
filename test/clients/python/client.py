"""Calls slot-service at an address with the token of $TOKEN, and prints what it sees as JSON."""

import json
import os
import sys
import uuid

import grpc
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status
from slot.v1.slot_booking_service_pb2 import (
    BookRequest,
    ConfirmRequest,
    GetAvailabilityRequest,
    ReleaseRequest,
    SlotBookingState,
)
from slot.v1.slot_booking_service_pb2_grpc import SlotBookingServiceStub
from slot.v1.slot_service_pb2 import CreateSlotRequest, GetSlotByIdRequest, VendorSnippetInput
from slot.v1.slot_service_pb2_grpc import SlotServiceStub
from slot.v1.slot_store_service_pb2 import WatchStoreRequest
from slot.v1.slot_store_service_pb2_grpc import SlotStoreServiceStub


def details(error, kind):
    """The details of one kind that a failed call has."""
    status = Status.FromString(dict(error.trailing_metadata()).get("grpc-status-details-bin", b""))
    return [kind.FromString(detail.value) for detail in status.details if detail.Is(kind.DESCRIPTOR)]


channel = grpc.insecure_channel(sys.argv[1])
slots, stores, bookings = SlotServiceStub(channel), SlotStoreServiceStub(channel), SlotBookingServiceStub(channel)
token = ("authorization", f"Bearer {os.environ['TOKEN']}")

# A stream begins with the version that the stores have. Its deadline ends it.
versions = (answer.version for answer in stores.WatchStore(WatchStoreRequest(), metadata=[token], timeout=300))
before = next(versions)

request = CreateSlotRequest(delivery_time="2090-05-01T10:00:00Z", freeze_time="2090-05-01T06:30:00Z", capacity=2)
key = ("idempotency-key", str(uuid.uuid4()))
first, sent = slots.CreateSlot.with_call(request, metadata=[token, key], timeout=30)
again, repeated = slots.CreateSlot.with_call(request, metadata=[token, key], timeout=30)
replayed = [("idempotent-replayed", "true") in call.initial_metadata() for call in (sent, repeated)]  # [False, True]

# An order holds a unit of the slot while it is paid, and gives it back when it is canceled.
asked = GetAvailabilityRequest(slot_ids=[first.slot.id])
[available] = bookings.GetAvailability(asked, metadata=[token], timeout=30).slots
order = BookRequest(slot_id=first.slot.id, order_key=str(uuid.uuid4()))
held = bookings.Book(order, metadata=[token], timeout=30)
if not held.booked:
    sys.exit(held.message)
paid = bookings.Confirm(ConfirmRequest(booking_id=held.booking.id), metadata=[token], timeout=30)
canceled = bookings.Release(ReleaseRequest(booking_id=held.booking.id), metadata=[token], timeout=30)

after = next(version for version in versions if version > before)
slot = slots.GetSlotById(GetSlotByIdRequest(id=first.slot.id), metadata=[token], timeout=30).slot

try:
    slots.GetSlotById(GetSlotByIdRequest(id=2147483647), metadata=[token], timeout=30)
except grpc.RpcError as error:
    reasons = [info.reason for info in details(error, ErrorInfo)]  # ["SLOT_NOT_FOUND"]

request.vendor_snippets.append(VendorSnippetInput(name="refused", product_ids=[2, 0]))
try:
    slots.CreateSlot(request, metadata=[token], timeout=30)
except grpc.RpcError as error:
    fields = [each.field for refused in details(error, BadRequest) for each in refused.field_violations]

created = {"read": slot.delivery_time.ToJsonString(), "isSame": first == again, "replayed": replayed}
booked = {
    "remaining": [available.remaining, held.remaining],
    "states": [SlotBookingState.Name(answer.booking.state) for answer in (held, paid, canceled)],
}
print(json.dumps({**created, **booked, "versions": [before, after], "reasons": reasons, "fields": fields}))
