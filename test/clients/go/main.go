// Calls slot-service at an address with the token of $TOKEN, and prints what it sees as JSON.
package main

import (
	"context"
	"encoding/json"
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
	Read     string   `json:"read"`
	Versions []int32  `json:"versions"`
	IsSame   bool     `json:"isSame"`
	Replayed []bool   `json:"replayed"`
	Reasons  []string `json:"reasons"`
	Fields   []string `json:"fields"`
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
	request := &slotv1.CreateSlotRequest{DeliveryTime: "2090-05-01T10:00:00Z", FreezeTime: "2090-05-01T06:30:00Z"}
	key := strconv.FormatInt(rand.Int63(), 36)
	first, isReplayed, err := create(ctx, slots, request, key)
	if err != nil {
		return seen, err
	}
	again, isReplayedAgain, err := create(ctx, slots, request, key)
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
		Read:     found.Slot.DeliveryTime.AsTime().Format(time.RFC3339),
		Versions: []int32{before, after},
		IsSame:   proto.Equal(first, again),
		Replayed: []bool{isReplayed, isReplayedAgain},
		Reasons:  reasons,
		Fields:   fields,
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
