package client

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// LocalDirVariable is the environment variable that names the folder of all
// LocalFileStores: RocketMQ's property of that name, which rocketmq-client-go
// reads from the environment, too.
const LocalDirVariable = "rocketmq.client.localOffsetStoreDir"

// localDir is the folder in the user's home where Java's client keeps its files.
const localDir = ".rocketmq_offsets"

// WithLocalDir sets the folder; the default, and an empty one, is what the environment variable
// LocalDirVariable names, or ~/.rocketmq_offsets, as Java's client has it.
// (rocketmq-client-go has ~/.rocketmq_client_go.)
func WithLocalDir(dir string) StoreOption { return func(s *storeSettings) { s.dir = dir } }

// WithDamageIgnored lets Load succeed where no file is good: they are moved
// aside under a name with the time, one warning is logged, StoreStats.Damaged
// counts them, and the consumer begins without offsets. A file that the system
// does not give, for want of a permission say, ends Load all the same.
func WithDamageIgnored() StoreOption { return func(s *storeSettings) { s.ignoreDamage = true } }

// localFolder gives the folder of all LocalFileStores.
func localFolder(set string) (string, error) {
	if set != "" {
		return set, nil
	}
	if dir := os.Getenv(LocalDirVariable); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", offset.Errorf(offset.ErrInvalid, "no folder for local offsets: %v; set one by WithLocalDir", err)
	}
	return filepath.Join(home, localDir), nil
}

// folderName checks that a name that came from outside is the name of one
// folder, and of no other place.
func folderName(field, name string) error {
	if err := offset.ValidateName(field, name, false); err != nil {
		return err
	}
	if name == "." || strings.ContainsAny(name, `/\`) || !filepath.IsLocal(name) {
		return offset.Errorf(offset.ErrInvalid, "%s %q cannot be the name of a folder, where its offsets are kept", field, name)
	}
	if runtime.GOOS == "windows" && strings.ContainsAny(name, `:*?"<>|`) {
		return offset.Errorf(offset.ErrInvalid, "%s %q holds a character that Windows does not have in names of folders", field, name)
	}
	return nil
}

// LocalClientID is the client id that RocketMQ's clients make in broadcasting
// mode, "ip@instance" or "ip@instance@unit", with the instance DEFAULT if it is
// empty. With it a LocalFileStore finds the folder of such a client.
func LocalClientID(ip, instance, unit string) string {
	if instance == "" {
		instance = "DEFAULT"
	}
	id := fmt.Sprintf("%s@%s", ip, instance)
	if unit != "" {
		id += "@" + unit
	}
	return id
}
