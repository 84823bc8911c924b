"""Calls slot-service at an address with the token of $TOKEN, and prints what it sees as JSON."""

import json
import os
import sys
import uuid

import grpc
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status
from slot.v1.slot_service_pb2 import CreateSlotRequest, GetSlotByIdRequest, VendorSnippetInput
from slot.v1.slot_service_pb2_grpc import SlotServiceStub
from slot.v1.slot_store_service_pb2 import WatchStoreRequest
from slot.v1.slot_store_service_pb2_grpc import SlotStoreServiceStub


def details(error, kind):
    """The details of one kind that a failed call has."""
    status = Status.FromString(dict(error.trailing_metadata()).get("grpc-status-details-bin", b""))
    return [kind.FromString(detail.value) for detail in status.details if detail.Is(kind.DESCRIPTOR)]


channel = grpc.insecure_channel(sys.argv[1])
slots, stores = SlotServiceStub(channel), SlotStoreServiceStub(channel)
token = ("authorization", f"Bearer {os.environ['TOKEN']}")

# A stream begins with the version that the stores have. Its deadline ends it.
versions = (answer.version for answer in stores.WatchStore(WatchStoreRequest(), metadata=[token], timeout=300))
before = next(versions)

request = CreateSlotRequest(delivery_time="2090-05-01T10:00:00Z", freeze_time="2090-05-01T06:30:00Z")
key = ("idempotency-key", str(uuid.uuid4()))
first, sent = slots.CreateSlot.with_call(request, metadata=[token, key], timeout=30)
again, repeated = slots.CreateSlot.with_call(request, metadata=[token, key], timeout=30)
replayed = [("idempotent-replayed", "true") in call.initial_metadata() for call in (sent, repeated)]  # [False, True]

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
print(json.dumps({**created, "versions": [before, after], "reasons": reasons, "fields": fields}))
