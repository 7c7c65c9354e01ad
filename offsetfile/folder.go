package offsetfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// Bounds of what is looked for in a folder.
const (
	// MaxSources is how many files may be taken from one folder.
	MaxSources = 1024
	// maxFolders is how many folders one folder may hold.
	maxFolders = 10_000
)

// The names that RocketMQ gives its files. A broker with enableLmq keeps all
// its offsets, those of other groups too, in lmqName instead of brokerName.
const (
	brokerName = "consumerOffset.json"
	lmqName    = "lmqConsumerOffset.json"
	javaName   = "offsets.json"
	goName     = "offset.json"
	older      = ".bak"
)

// rocksNames are the folders in which a broker keeps offsets in RocksDB, below
// its config/.
var rocksNames = []string{"consumerOffsets", "rdb"}

// Source is a file that was found, and what its place says of it.
type Source struct {
	Path string
	// Broker is the name of the broker that the file is of, by the name of its
	// folder; empty where the place does not say it.
	Broker string
	// Group is the group that a broadcasting consumer's file is of, by the
	// name of its folder; empty for others.
	Group string
	// Note is a remark for people; empty for none.
	Note string
}

// Find returns the files of offsets that a path stands for. A file is itself. Of
// a folder it takes, the first that is there:
//   - a broker's file in it, in its config/ or store/config/;
//   - the file of a broadcasting consumer in it, whose group is the name of its
//     folder (of the folder above, for the Go client's);
//   - those files in the folders in it: one broker to a folder, with the
//     folder's name, or a tree of broadcasting consumers
//     (~/.rocketmq_offsets, ~/.rocketmq_client_go).
//
// A folder that holds only the .bak of a file is refused with what to do, as is
// one in which two files could be meant. The error then wraps offset.ErrInvalid.
func Find(path string) ([]Source, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("looking for the file to read: %w", err)
	}
	if !st.IsDir() {
		return []Source{{Path: path}}, nil
	}
	list, err := findIn(path)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, nothingIn(path)
	case len(list) > MaxSources:
		return nil, offset.Errorf(offset.ErrInvalid, "the folder %q holds more than %d files of offsets; import parts of it", path, MaxSources)
	}
	return list, nil
}

// nothingIn says what a folder without files of offsets lacks.
func nothingIn(path string) error {
	for _, dir := range brokerFolders(path) {
		for _, name := range rocksNames {
			if isDir(filepath.Join(dir, name)) {
				return offset.Errorf(offset.ErrInvalid, "the broker of %q keeps its offsets in RocksDB (%s) and has no %s; export them with RocketMQ's mqadmin (rocksDBConfigToJson), and import what that writes",
					path, filepath.Join(dir, name), brokerName)
			}
		}
	}
	return offset.Errorf(offset.ErrInvalid, "the folder %q holds no %s, nor does its config/, nor any folder in it, and no %s or %s of broadcasting consumers; give the path of the file", path, brokerName, javaName, goName)
}

// findIn looks into a folder, and then into those in it.
func findIn(path string) ([]Source, error) {
	broker, err := brokerSource(path)
	if err != nil || broker != nil {
		return asList(broker), err
	}
	own, err := localSource(path)
	if err != nil || own != nil {
		return asList(own), err
	}
	folders, err := foldersOf(path)
	if err != nil {
		return nil, err
	}
	var brokers, consumers []Source
	for _, name := range folders {
		dir := filepath.Join(path, name)
		b, err := brokerSource(dir)
		if err != nil {
			return nil, err
		}
		if b != nil {
			b.Broker = name
			brokers = append(brokers, *b)
			continue
		}
		found, err := localTree(dir)
		if err != nil {
			return nil, err
		}
		if consumers = append(consumers, found...); len(consumers) > MaxSources {
			break
		}
	}
	if len(brokers) > 0 && len(consumers) > 0 {
		return nil, offset.Errorf(offset.ErrInvalid, "the folder %q holds files of brokers (%s) and of broadcasting consumers (%s); import them one after the other", path, brokers[0].Path, consumers[0].Path)
	}
	return append(brokers, consumers...), nil
}

// localTree looks for files of broadcasting consumers in a folder and in those in it.
func localTree(dir string) (list []Source, err error) {
	own, err := localSource(dir)
	if err != nil || own != nil {
		return asList(own), err
	}
	folders, err := foldersOf(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range folders {
		s, err := localSource(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		list = append(list, asList(s)...)
	}
	return list, nil
}

func asList(s *Source) []Source {
	if s == nil {
		return nil
	}
	return []Source{*s}
}

// brokerFolders are where a broker's file can be, given a folder of the broker.
func brokerFolders(path string) []string {
	return []string{path, filepath.Join(path, "config"), filepath.Join(path, "store", "config")}
}

// brokerSource finds the file of the broker that a folder is of; nil if there is none.
func brokerSource(path string) (*Source, error) {
	for _, dir := range brokerFolders(path) {
		plain, err := present(dir, brokerName)
		if err != nil {
			return nil, err
		}
		lmq, err := present(dir, lmqName)
		if err != nil {
			return nil, err
		}
		switch {
		case plain && lmq:
			return nil, offset.Errorf(offset.ErrInvalid, "the folder %q holds %s and %s; a broker uses only one of them, and the other is old: give the path of %s if the broker runs with enableLmq=true, else that of %s",
				dir, brokerName, lmqName, lmqName, brokerName)
		case lmq:
			return &Source{Path: filepath.Join(dir, lmqName)}, nil
		case plain:
			return &Source{Path: filepath.Join(dir, brokerName), Note: rocksNote(dir)}, nil
		}
	}
	return nil, nil
}

// rocksNote warns of a file beside a RocksDB.
func rocksNote(dir string) string {
	for _, name := range rocksNames {
		if isDir(filepath.Join(dir, name)) {
			return fmt.Sprintf("beside it is %s: a broker that keeps its offsets in RocksDB does not write this file any more, which may be old", name)
		}
	}
	return ""
}

// localSource finds the file of a broadcasting consumer in a folder; nil if there is none.
func localSource(dir string) (*Source, error) {
	java, err := present(dir, javaName)
	if err != nil {
		return nil, err
	}
	golang, err := present(dir, goName)
	if err != nil {
		return nil, err
	}
	switch {
	case java && golang:
		return nil, offset.Errorf(offset.ErrInvalid, "the folder %q holds %s (the Java client's) and %s (the Go client's); give the path of one", dir, javaName, goName)
	case java: // CLIENT/GROUP/offsets.json
		return &Source{Path: filepath.Join(dir, javaName), Group: folderName(dir)}, nil
	case golang: // GROUP/CLIENT/offset.json
		return &Source{Path: filepath.Join(dir, goName), Group: folderName(filepath.Join(dir, ".."))}, nil
	}
	return nil, nil
}

// folderName is the name of a folder, also where the path ends in dots.
func folderName(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		abs = filepath.Clean(dir)
	}
	return filepath.Base(abs)
}

// present tells whether a file is in a folder. Where only its older copy is, that
// is refused: how old it is nobody can tell.
func present(dir, name string) (bool, error) {
	p := filepath.Join(dir, name)
	_, err := os.Stat(p)
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("looking for the file to read: %w", err)
	}
	if _, err := os.Stat(p + older); err == nil {
		return false, offset.Errorf(offset.ErrInvalid,
			"the folder %q holds no %s, only its older copy; check its age and, if that is what you want, give its path: %s", dir, name, p+older)
	}
	return false, nil
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// foldersOf lists the folders in a folder, but for hidden ones, by name.
func foldersOf(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for files of offsets: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !isDir(filepath.Join(dir, e.Name())) {
			continue
		}
		if names = append(names, e.Name()); len(names) > maxFolders {
			return nil, offset.Errorf(offset.ErrInvalid, "the folder %q holds more than %d folders; name the one that is meant", dir, maxFolders)
		}
	}
	return names, nil
}
