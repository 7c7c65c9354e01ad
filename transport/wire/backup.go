package wire

import (
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// ToBackupRequest makes the API's form of a wish for a backup as fresh as at.
func ToBackupRequest(at offset.ReadAt, timeoutMS uint32) *tidemarkv1.BackupRequest {
	return &tidemarkv1.BackupRequest{Level: toLevel(at.Level), AtIndex: at.Index, TimeoutMs: timeoutMS}
}

// FromBackupRequest reads how fresh a backup must be.
func FromBackupRequest(m *tidemarkv1.BackupRequest) (offset.ReadAt, error) {
	return fromReadAt(m.GetLevel(), m.GetAtIndex())
}

// ToBackupResponse makes one message of a backup.
func ToBackupResponse(p offset.BackupPart) *tidemarkv1.BackupResponse {
	return &tidemarkv1.BackupResponse{Meta: ToMeta(p.Meta), Queues: p.Queues, Digest: p.Digest.String(), Data: p.Data}
}

// FromBackupResponse reads one message of a backup. last reports that it is the
// last one, and total how many bytes were sent in all; a stream that ends
// without it broke off.
func FromBackupResponse(m *tidemarkv1.BackupResponse) (p offset.BackupPart, total uint64, last bool, err error) {
	if p.Meta, err = FromMeta(m.GetMeta()); err != nil {
		return offset.BackupPart{}, 0, false, err
	}
	if p.Digest, err = fromDigest(m.GetDigest()); err != nil {
		return offset.BackupPart{}, 0, false, err
	}
	p.Queues, p.Data = m.GetQueues(), m.GetData()
	last = m != nil && m.Total != nil
	if last && len(p.Data) > 0 {
		return offset.BackupPart{}, 0, false, offset.Errorf(offset.ErrOutcomeUnknown, "the last message of a backup has %d bytes of it", len(p.Data))
	}
	return p, m.GetTotal(), last, nil
}
