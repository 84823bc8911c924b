// Calls slot-service at an address with the token of $TOKEN, and prints what it sees as JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"time"

	slotv1 "delivery/slot/v1"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

type outcome struct {
	Read      string   `json:"read"`
	Versions  []int32  `json:"versions"`
	IsSame    bool     `json:"isSame"`
	Replayed  []bool   `json:"replayed"`
	Reasons   []string `json:"reasons"`
	Fields    []string `json:"fields"`
	Remaining []int32  `json:"remaining"`
	States    []string `json:"states"`
}

// reasonsAndFields reads the details of a failed call.
func reasonsAndFields(err error) (reasons, fields []string) {
	for _, detail := range status.Convert(err).Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			reasons = append(reasons, detail.Reason)
		case *errdetails.BadRequest:
			for _, violation := range detail.FieldViolations {
				fields = append(fields, violation.Field)
			}
		}
	}
	return reasons, fields
}

// create sends a write under a key, and tells whether the service has carried it out before.
func create(ctx context.Context, slots slotv1.SlotServiceClient, request *slotv1.CreateSlotRequest, key string) (
	answer *slotv1.CreateSlotResponse, isReplayed bool, err error) {
	var header metadata.MD
	ctx = metadata.AppendToOutgoingContext(ctx, "idempotency-key", key)
	answer, err = slots.CreateSlot(ctx, request, grpc.Header(&header))
	return answer, strings.Join(header.Get("idempotent-replayed"), "") == "true", err
}

// book holds a unit of a slot for an order, confirms it as if it were paid, and gives it back as if it were canceled.
func book(ctx context.Context, bookings slotv1.SlotBookingServiceClient, slotID int32, orderKey string) (
	remaining []int32, states []string, err error) {
	available, err := bookings.GetAvailability(ctx, &slotv1.GetAvailabilityRequest{SlotIds: []int32{slotID}})
	if err != nil {
		return nil, nil, err
	}
	held, err := bookings.Book(ctx, &slotv1.BookRequest{SlotId: &slotID, OrderKey: orderKey})
	if err != nil {
		return nil, nil, err
	}
	if !held.Booked {
		return nil, nil, errors.New(held.GetMessage())
	}
	paid, err := bookings.Confirm(ctx, &slotv1.ConfirmRequest{BookingId: &held.Booking.Id})
	if err != nil {
		return nil, nil, err
	}
	canceled, err := bookings.Release(ctx, &slotv1.ReleaseRequest{BookingId: &held.Booking.Id})
	for _, booking := range []*slotv1.SlotBooking{held.Booking, paid.Booking, canceled.GetBooking()} {
		states = append(states, booking.GetState().String())
	}
	return []int32{available.Slots[0].GetRemaining(), held.GetRemaining()}, states, err
}

// nextVersion waits until the stores have a version after the given one.
func nextVersion(watch slotv1.SlotStoreService_WatchStoreClient, version int32) (int32, error) {
	for {
		answer, err := watch.Recv()
		if err != nil || answer.Version > version {
			return answer.GetVersion(), err
		}
	}
}

func call(ctx context.Context, conn grpc.ClientConnInterface) (seen outcome, err error) {
	slots, stores := slotv1.NewSlotServiceClient(conn), slotv1.NewSlotStoreServiceClient(conn)
	watch, err := stores.WatchStore(ctx, &slotv1.WatchStoreRequest{})
	if err != nil {
		return seen, err
	}
	before, err := nextVersion(watch, -1)
	if err != nil {
		return seen, err
	}
	request := &slotv1.CreateSlotRequest{DeliveryTime: "2090-05-01T10:00:00Z", FreezeTime: "2090-05-01T06:30:00Z", Capacity: proto.Int32(2)}
	key := strconv.FormatInt(rand.Int63(), 36)
	first, isReplayed, err := create(ctx, slots, request, key)
	if err != nil {
		return seen, err
	}
	again, isReplayedAgain, err := create(ctx, slots, request, key)
	if err != nil {
		return seen, err
	}
	remaining, states, err := book(ctx, slotv1.NewSlotBookingServiceClient(conn), first.Slot.Id, key)
	if err != nil {
		return seen, err
	}
	after, err := nextVersion(watch, before)
	if err != nil {
		return seen, err
	}
	found, err := slots.GetSlotById(ctx, &slotv1.GetSlotByIdRequest{Id: &first.Slot.Id})
	if err != nil {
		return seen, err
	}
	_, err = slots.GetSlotById(ctx, &slotv1.GetSlotByIdRequest{Id: proto.Int32(2147483647)})
	reasons, _ := reasonsAndFields(err)
	request.VendorSnippets = []*slotv1.VendorSnippetInput{{Name: "refused", ProductIds: []int32{2, 0}}}
	_, err = slots.CreateSlot(ctx, request)
	_, fields := reasonsAndFields(err)
	return outcome{
		Read:      found.Slot.DeliveryTime.AsTime().Format(time.RFC3339),
		Versions:  []int32{before, after},
		IsSame:    proto.Equal(first, again),
		Replayed:  []bool{isReplayed, isReplayedAgain},
		Reasons:   reasons,
		Fields:    fields,
		Remaining: remaining,
		States:    states,
	}, nil
}

func main() {
	// A key must not be that of another run.
	rand.Seed(time.Now().UnixNano())
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+os.Getenv("TOKEN"))
	conn, err := grpc.Dial(os.Args[1], grpc.WithInsecure())
	if err != nil {
		log.Fatal(err)
	}
	seen, err := call(ctx, conn)
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(seen); err != nil {
		log.Fatal(err)
	}
}
