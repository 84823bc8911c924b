// Calls slot-service at an address with the token of $TOKEN, and prints what it sees as JSON.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"log"
	"os"
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
	Replayed []string `json:"replayed"`
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

// createTwice sends a write twice under one key, and tells whether the service says that it was carried out before.
func createTwice(ctx context.Context, slots slotv1.SlotServiceClient, request *slotv1.CreateSlotRequest) (
	answers []*slotv1.CreateSlotResponse, replayed []string, err error) {
	key := make([]byte, 16)
	if _, err = rand.Read(key); err != nil {
		return nil, nil, err
	}
	ctx = metadata.AppendToOutgoingContext(ctx, "idempotency-key", hex.EncodeToString(key))
	for range [2]int{} {
		var header metadata.MD
		answer, err := slots.CreateSlot(ctx, request, grpc.Header(&header))
		if err != nil {
			return nil, nil, err
		}
		answers, replayed = append(answers, answer), append(replayed, append(header["idempotent-replayed"], "")[0])
	}
	return answers, replayed, nil
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
	answers, replayed, err := createTwice(ctx, slots, request)
	if err != nil {
		return seen, err
	}
	after, err := nextVersion(watch, before)
	if err != nil {
		return seen, err
	}
	found, err := slots.GetSlotById(ctx, &slotv1.GetSlotByIdRequest{Id: &answers[0].Slot.Id})
	if err != nil {
		return seen, err
	}
	_, err = slots.GetSlotById(ctx, &slotv1.GetSlotByIdRequest{Id: proto.Int32(2147483647)})
	reasons, _ := reasonsAndFields(err)
	request.VendorSnippets = []*slotv1.VendorSnippetInput{{Name: "refused", ProductIds: []int32{2, 0}}}
	_, err = slots.CreateSlot(ctx, request)
	_, fields := reasonsAndFields(err)
	isSame := proto.Equal(answers[0], answers[1])
	return outcome{found.Slot.DeliveryTime.AsTime().Format(time.RFC3339), []int32{before, after}, isSame, replayed, reasons, fields}, nil
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
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
