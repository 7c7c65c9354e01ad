package franzgo_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// throwOut has a member leave its group, as an operator can.
func (s *stand) throwOut(t *testing.T, group, member string) {
	t.Helper()
	m := kmsg.NewLeaveGroupRequestMember()
	m.MemberID = member
	request := kmsg.NewPtrLeaveGroupRequest()
	request.Group, request.MemberID = group, member
	request.Members = append(request.Members, m)
	response, err := request.RequestWith(within(t), s.admin)
	if err == nil {
		err = kerr.ErrorForCode(response.ErrorCode)
	}
	if err != nil {
		t.Fatalf("throwing %s out: %v", member, err)
	}
}

// end is the offset that the next message of a partition gets.
func (s *stand) end(t *testing.T, topic string, partition int32) int64 {
	t.Helper()
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Partition, p.Timestamp = partition, -1
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic, rt.Partitions = topic, append(rt.Partitions, p)
	request := kmsg.NewPtrListOffsetsRequest()
	request.Topics = append(request.Topics, rt)
	response, err := request.RequestWith(within(t), s.admin)
	if err != nil {
		t.Fatal(err)
	}
	return response.Topics[0].Partitions[0].Offset
}

// deleteBefore does what retention does.
func (s *stand) deleteBefore(t *testing.T, topic string, partition int32, first int64) {
	t.Helper()
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Partition, p.Offset = partition, first
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rt.Topic, rt.Partitions = topic, append(rt.Partitions, p)
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.Topics, request.TimeoutMillis = append(request.Topics, rt), 10_000
	response, err := request.RequestWith(within(t), s.admin)
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("deleting records: %v", err)
	}
}
