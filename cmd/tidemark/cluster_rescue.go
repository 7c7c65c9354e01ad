package main

import (
	"fmt"
	"os"
	"os/user"
	"strings"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// rescueCmd founds a cluster from what is left of one that lost its majority.
type rescueCmd struct {
	From             string `arg:"" help:"Data folder of a stopped member, or a backup. It is only read." type:"path" placeholder:"FROM"`
	Dir              string `arg:"" help:"Data folder to make for the first member of the new cluster. It must not exist, or be empty." type:"path" placeholder:"NEWDIR"`
	Name             string `help:"Name of that member, --name of its node; if not given, that of the member whose folder it was, or that made the backup." placeholder:"NAME"`
	LogStore         string `help:"How that member keeps its log, --log-store of its node: boltdb or wal; if not given, as in the old folder, or boltdb for a backup." enum:",boltdb,wal" default:"" placeholder:"KIND"`
	OldClusterIsGone bool   `help:"Say that no majority of the old cluster's voters will ever run again. With --execute, nothing is done without it."`
	execute
}

// remainingRow is one member of the old cluster.
type remainingRow struct {
	ID    string `json:"id"`
	Peer  string `json:"peer"`
	Voter bool   `json:"voter"`
}

// rescueResult is what was found, and what was or would be made of it.
type rescueResult struct {
	From string `json:"from"`
	// Member is whose folder it is, or who made the backup, whose id then is Backup.
	Member string `json:"member"`
	Backup string `json:"backup,omitempty"`
	// LastTerm and LastIndex are those of the last entry that the member had;
	// zero for a backup.
	LastTerm  uint64 `json:"lastTerm,string"`
	LastIndex uint64 `json:"lastIndex,string"`
	// The state there, of the old cluster.
	ClusterID string         `json:"clusterId"`
	Index     uint64         `json:"index,string"`
	Digest    string         `json:"digest"`
	Groups    uint64         `json:"groups,string"`
	Offsets   uint64         `json:"offsets,string"`
	Members   []remainingRow `json:"members"`
	// Of the new cluster's first member; its ids and index only once it was made.
	Dir          string `json:"dir"`
	Name         string `json:"name"`
	LogStore     string `json:"logStore"`
	Executed     bool   `json:"executed"`
	NewClusterID string `json:"newClusterId,omitempty"`
	NewMember    string `json:"newMember,omitempty"`
	NewIndex     uint64 `json:"newIndex,string,omitempty"`
}

func (r *rescueResult) table(t *table) {
	if r.Backup != "" {
		t.line("%s: a backup by %s, id %s", r.From, shown(r.Member), r.Backup)
	} else {
		t.line("%s: folder of %s; its last entry is of TERM %d, INDEX %d", r.From, shown(r.Member), r.LastTerm, r.LastIndex)
	}
	t.line("of cluster %s, as of index %d, digest %s: %s of %s", r.ClusterID, r.Index, r.Digest, plural(r.Offsets, "offset", "offsets"), plural(r.Groups, "group", "groups"))
	for _, m := range r.Members {
		role := "nonvoter"
		if m.Voter {
			role = "voter"
		}
		t.row("member then", shown(m.ID), role, shown(m.Peer))
	}
	if r.Executed {
		t.line("%s is now the data folder of %s, the only member of cluster %s, which begins at index %d", r.Dir, r.NewMember, r.NewClusterID, r.NewIndex)
		options := fmt.Sprintf("--name %s --data %s", r.Name, r.Dir)
		if r.LogStore != string(store.LogBoltDB) { // which is what a node has without the option
			options += " --log-store " + r.LogStore
		}
		t.line("start its node with %s, add the others from empty folders, and never start a member of the old cluster again", options)
		return
	}
	if r.Backup == "" {
		t.line("if other members' folders are left, look at each: the one with the highest TERM, and of these with the highest INDEX, lacks the least")
	}
	t.line("%s would become the data folder of %s, the only member of a new cluster, and all that the old cluster's clients still send would be fenced; nothing was done yet, add --execute --old-cluster-is-gone", r.Dir, r.Name)
}

// Run reads what is left, and shows or does the rescue.
func (c *rescueCmd) Run(s *session) error {
	left, backupID, err := c.remains(s)
	if err != nil {
		return err
	}
	do := node.Rescue{Dir: c.Dir, Name: c.Name, LogStore: store.LogStore(c.LogStore), Time: s.clock(), By: auth.Principal{Name: whoRuns(), From: "tidemark cluster rescue"}}
	if do.Name == "" {
		do.Name = nameOf(left.Member)
	}
	if do.LogStore == "" {
		do.LogStore = left.LogStore
	}
	if err := do.Check(); err != nil {
		return err
	}
	if strings.HasPrefix(c.Dir, c.From+string(os.PathSeparator)) {
		return offset.Errorf(offset.ErrInvalid, "%s is in %s, which is only read; name a folder outside it", c.Dir, c.From)
	}
	r := rescueResultOf(c, left, do, backupID)
	if c.Execute {
		if err := c.found(s, left, do, r); err != nil {
			return err
		}
	}
	return s.print(r)
}

// remains reads what is left; of a backup it also gives the id.
func (c *rescueCmd) remains(s *session) (*node.Remains, string, error) {
	switch st, err := os.Stat(c.From); {
	case err != nil:
		return nil, "", fmt.Errorf("looking at what is left: %w", err)
	case st.IsDir():
		left, err := node.ReadRemains(s.ctx, c.From)
		return left, "", err
	}
	b, err := readBackup(c.From)
	if err != nil {
		return nil, "", err
	}
	return &node.Remains{Root: b.Root, Member: b.Node, LogStore: store.LogBoltDB}, b.ID.String(), nil
}

// found makes the folder.
func (c *rescueCmd) found(s *session, left *node.Remains, do node.Rescue, r *rescueResult) error {
	if !c.OldClusterIsGone {
		return exitf(exitRefused, "the old cluster must be gone for good: with a majority of its voters it would serve next to the new one, and each would lack what the other acknowledges; start them instead, or say that they never run again with --old-cluster-is-gone")
	}
	made, err := left.Found(s.ctx, do)
	if err != nil {
		return err
	}
	s.changed, r.Executed = true, true
	r.NewMember, r.NewClusterID, r.NewIndex = made.Member, made.Root.Cluster().String(), made.Root.Index()
	return nil
}

func rescueResultOf(c *rescueCmd, left *node.Remains, do node.Rescue, backupID string) *rescueResult {
	root := left.Root
	r := &rescueResult{
		From: c.From, Member: left.Member, Backup: backupID, LastTerm: left.Term, LastIndex: left.Index,
		ClusterID: root.Cluster().String(), Index: root.Index(), Digest: root.Digest().String(),
		Groups: root.Groups(), Offsets: root.Queues(), Members: []remainingRow{}, Dir: c.Dir, Name: do.Name, LogStore: string(do.LogStore),
	}
	for _, m := range left.Members {
		r.Members = append(r.Members, remainingRow{m.ID, m.Peer, m.Voter})
	}
	return r
}

// whoRuns names the user of this machine who runs the program.
func whoRuns() string {
	u, err := user.Current()
	if err != nil {
		return auth.AnonymousName
	}
	return u.Username
}
