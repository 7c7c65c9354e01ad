package store

import (
	"encoding/hex"
	"testing"
)

// What these tests hold is on people's disks. A change needs a new version.

const goldenMeta = `{"magic":"tidemark-snapshot","version":1,"crc32c":"c0aae817","meta":{"index":7,"term":2,"configuration":{"Servers":[{"Suffrage":0,"ID":"n1/0a","Address":"h1:7412"},{"Suffrage":1,"ID":"n2/0b","Address":"h2:7412"}]},"configuration_index":3,"size":11,"data_crc32c":"e3069283"}}` + "\n"

func TestGoldenMeta(t *testing.T) {
	m, err := parseMeta([]byte(goldenMeta))
	must(t, err)
	if m.Index != 7 || m.Term != 2 || m.ConfigurationIndex != 3 || m.Size != 11 || m.DataSum != "e3069283" ||
		len(m.Configuration.Servers) != 2 || m.Configuration.Servers[1].ID != "n2/0b" {
		t.Errorf("read as %+v", m)
	}
	got, err := m.encode()
	if err != nil || string(got) != goldenMeta {
		t.Errorf("written as %s, %v", got, err)
	}
}

func TestGoldenMarker(t *testing.T) {
	m, err := parseMarker("store.json", []byte(`{
  "magic": "tidemark-store",
  "version": 1,
  "state": "ready",
  "store": "000102030405060708090a0b0c0d0e0f",
  "member": "0a"
}
`))
	if err != nil || m.Store != "000102030405060708090a0b0c0d0e0f" || m.Member != "0a" || m.State != stateReady {
		t.Errorf("read as %+v, %v", m, err)
	}
}

func TestGoldenVote(t *testing.T) {
	const golden = "02" + "0000000000000007" + "68323a37343132" + "051e9fec"
	if got := hex.EncodeToString(encodeVote(7, []byte("h2:7412"))); got != golden {
		t.Errorf("written as %s", got)
	}
}

func TestGoldenNames(t *testing.T) {
	const golden = "00000000000000000007-00000000000000000002-0000000b"
	if got := snapshotName(7, 2, 11); got != golden {
		t.Errorf("written as %s", got)
	}
	index, term, ok := parseSnapshotName(golden)
	if !ok || index != 7 || term != 2 {
		t.Errorf("read as %d, %d, %v", index, term, ok)
	}
	for _, bad := range []string{golden + tmpSuffix, golden[1:], "99999999999999999999-00000000000000000002-0000000b", "x"} {
		if _, _, ok := parseSnapshotName(bad); ok {
			t.Errorf("%s is a name", bad)
		}
	}
}
