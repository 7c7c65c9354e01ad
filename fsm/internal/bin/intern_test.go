package bin

import "testing"

func TestInternerIsBounded(t *testing.T) {
	var in Interner
	name := make([]byte, 512)
	for i := range 3 * internNames {
		name[0], name[1], name[2] = byte(i), byte(i>>8), byte(i>>16)
		if s := in.Intern(name); s != string(name) {
			t.Fatalf("name %d became %q", i, s)
		}
		if len(in.young)+len(in.old) > 2*internNames || in.size > internBytes {
			t.Fatalf("%d names, %d bytes are kept", len(in.young)+len(in.old), in.size)
		}
	}
	for i := range 3 * internNames {
		in.Intern(name[:i&1])
	}
}
