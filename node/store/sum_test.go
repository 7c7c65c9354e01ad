package store

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"

	"github.com/tidemark-mq/tidemark/offset"
)

// An entry of the log with any byte changed is refused or is read as it was
// stored: nothing else may be applied or sent on.
func TestChangedEntryIsNotRead(t *testing.T) {
	onlyOn(t, LogBoltDB, "segments: TestFlippedBitsInSegments")
	dir := storeDir(t)
	s := open(t, Config{Dir: dir})
	want := entries(1, 3, 7)
	mustAppend(t, s, want)
	must(t, s.Close())
	seen := 0
	eachFlip(t, dir, bucketLogs, binary.BigEndian.AppendUint64(nil, 2), func(at int) {
		s, err := Open(Config{Dir: dir})
		if err != nil {
			t.Fatalf("byte %d: open: %v", at, err)
		}
		defer func() { _ = s.Close() }()
		var got raft.Log
		err = s.Log().GetLog(2, &got)
		var failure *Failure
		switch {
		case errors.As(err, &failure):
			seen++
		case err != nil || got.Index != 2 || got.Term != 7 || got.Type != raft.LogCommand || !bytes.Equal(got.Data, want[1].Data) || got.Extensions != nil:
			t.Errorf("byte %d: read %+v, %v", at, got, err)
		}
	})
	if seen < len(want[1].Data) {
		t.Errorf("%d changed bytes were seen; the data alone has %d", seen, len(want[1].Data))
	}
}

// A changed entry ends the member with the code of damage, and the way out.
func TestChangedEntryIsDamage(t *testing.T) {
	e := summed(entries(5, 5, 1))[0]
	e.Data = append([]byte(nil), e.Data...)
	e.Data[3] ^= 1
	err := checkEntry(5, e, 0)
	f := &Failure{Cause: causeOf(err), Op: OpRead, Dir: "d", Err: err}
	if f.Cause != CauseDamaged || f.Cause.ExitCode() != 71 || f.advice() != rejoin {
		t.Errorf("got %v", f)
	}
}

// Term, vote and the two indexes are never read changed.
func TestChangedValueEndsTheStart(t *testing.T) {
	dir := storeDir(t)
	s := open(t, Config{Dir: dir})
	mustAppend(t, s, entries(1, 60, 2))
	must(t, s.Stable().SetUint64([]byte(keyCurrentTerm), 9))
	must(t, s.Stable().SetUint64([]byte(keyLastVoteTerm), 8))
	must(t, s.Stable().Set([]byte(keyLastVoteCand), []byte("n2:7412")))
	snapshot(t, s, 50, 2, []byte("x"))
	must(t, s.Close())
	for _, key := range []string{keyCurrentTerm, keyVote, keySnapshotIndex, keySummedFrom} {
		eachFlip(t, dir, bucketConf, []byte(key), func(at int) {
			if s, err := Open(Config{Dir: dir}); !errors.Is(err, offset.ErrDamaged) {
				t.Errorf("%s, byte %d: %v", key, at, err)
				_ = s.Close()
			}
		})
	}
	v, err := readVote(dir) // put back as it was
	if err != nil || v != (storedVote{CurrentTerm: 9, Term: 8, Candidate: "n2:7412"}) {
		t.Errorf("vote is %+v, %v", v, err)
	}
}

// What builds before the sums have stored is read.
func TestUnsummedIsRead(t *testing.T) {
	e := entries(4, 4, 1)[0]
	must(t, checkEntry(4, e, 0))
	must(t, checkEntry(4, e, 5))
	if err := checkEntry(4, e, 4); !errors.Is(err, offset.ErrDamaged) {
		t.Errorf("an entry that must have a sum was read without one: %v", err)
	}
	n, err := decodeNumber(keyCurrentTerm, []byte{0, 0, 0, 0, 0, 0, 1, 2})
	if err != nil || n != 258 {
		t.Errorf("number %d, %v", n, err)
	}
	old, _ := hex.DecodeString("01" + "0000000000000007" + "68323a37343132")
	term, candidate, err := decodeVote(old)
	if err != nil || term != 7 || string(candidate) != "h2:7412" {
		t.Errorf("vote %d, %q, %v", term, candidate, err)
	}
}

// An entry that has lost its sum, and whatever else, is none of an earlier build.
func TestEntryThatLostItsSumIsNotRead(t *testing.T) {
	onlyOn(t, LogBoltDB, "segments have sums of their own")
	dir := storeDir(t)
	s := open(t, Config{Dir: dir})
	mustAppend(t, s, entries(1, 3, 7))
	must(t, s.Close())
	key := binary.BigEndian.AppendUint64(nil, 2)
	edit(t, dir, func(tx *bbolt.Tx) error {
		raw := bytes.Clone(tx.Bucket(bucketLogs).Get(key))
		changed := bytes.Replace(raw, []byte("Extensions"), []byte("Extensionz"), 1)
		changed = bytes.Replace(changed, []byte("entry 2"), []byte("entry 3"), 1)
		if bytes.Equal(raw, changed) {
			t.Fatalf("an entry is stored as %q", raw)
		}
		return tx.Bucket(bucketLogs).Put(key, changed)
	})
	s = open(t, Config{Dir: dir})
	var got raft.Log
	var failure *Failure
	if err := s.Log().GetLog(2, &got); !errors.As(err, &failure) || failure.Cause != CauseDamaged {
		t.Errorf("read %q, %v", got.Data, err)
	}
}

// A folder of a build before the sums is taken over as it is: what it holds is
// read, what is appended from then on must have sums, and such a build can't read
// the term any more, and so does not append without.
func TestFolderWithoutSumsIsTakenOver(t *testing.T) {
	onlyOn(t, LogBoltDB, "the same key for both")
	dir := storeDir(t)
	s := open(t, Config{Dir: dir})
	mustAppend(t, s, entries(1, 3, 7))
	must(t, s.Close())
	plain := binary.BigEndian.AppendUint64(nil, 7)
	edit(t, dir, func(tx *bbolt.Tx) error {
		return errors.Join(tx.Bucket(bucketConf).Delete([]byte(keySummedFrom)), tx.Bucket(bucketConf).Put([]byte(keyCurrentTerm), plain))
	})
	db, err := raftboltdb.NewBoltStore(logPath(dir))
	must(t, err)
	must(t, db.StoreLogs(entries(4, 5, 7)))
	must(t, db.Close())

	for range 2 { // the second start finds what the first has noted
		s = open(t, Config{Dir: dir})
		var got raft.Log
		must(t, s.Log().GetLog(5, &got))
		if got.Index != 5 || s.log.summed != 6 {
			t.Errorf("read %+v; entries have sums from %d on", got, s.log.summed)
		}
		must(t, s.Close())
	}
	edit(t, dir, func(tx *bbolt.Tx) error {
		if term := tx.Bucket(bucketConf).Get([]byte(keyCurrentTerm)); !bytes.Equal(term, encodeNumber(keyCurrentTerm, 7)) {
			t.Errorf("the term is stored as %x", term)
		}
		return nil
	})
}

// eachFlip changes a drawn bit of each byte of a value in a closed store's log
// file, one after another, and puts the value back at the end.
func eachFlip(t *testing.T, dir string, bucket, key []byte, try func(at int)) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var sound []byte
	edit(t, dir, func(tx *bbolt.Tx) error {
		sound = append(sound, tx.Bucket(bucket).Get(key)...)
		return nil
	})
	if len(sound) == 0 {
		t.Fatalf("%s holds no %x", bucket, key)
	}
	put := func(val []byte) {
		edit(t, dir, func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Put(key, val) })
	}
	for at := range sound {
		changed := bytes.Clone(sound)
		changed[at] ^= 1 << r.IntN(8)
		put(changed)
		try(at)
	}
	put(sound)
}

// edit changes a closed store's log file as nobody should.
func edit(t *testing.T, dir string, fn func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(logPath(dir), fileMode, &bbolt.Options{NoSync: true, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(fn); err != nil {
		t.Fatal(err)
	}
	must(t, db.Close())
}
