// Package programs makes what is compared: the servers of other systems from
// their Go modules or jars, Tidemark as it lies in its folder, and older revisions of it.
package programs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tidemark-mq/tidemark/bench/systems"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
)

// Builder builds programs. What was built before and has not changed is quick.
type Builder struct {
	// Root is Tidemark's folder, Out where programs go.
	Root, Out string
}

func (b Builder) bench() string { return filepath.Join(b.Root, "bench") }

// run runs a command in a folder; what it says goes to stderr.
func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s (in %s): %w", name, strings.Join(args, " "), dir, err)
	}
	return nil
}

// goBuild builds a package of the module in a folder, the same bytes each time.
func goBuild(ctx context.Context, dir, program, pkg string, flags ...string) error {
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-o", program}, flags...)
	return run(ctx, dir, "go", append(args, pkg)...)
}

// Peers builds the servers of the other systems from their modules, and the one
// of the bare raft library; their versions are those of bench/go.mod.
func (b Builder) Peers(ctx context.Context) (dir string, err error) {
	dir = filepath.Join(b.Out, "peers")
	if err := goBuild(ctx, b.bench(), filepath.Join(dir, "bared"), "./bared"); err != nil {
		return "", err
	}
	for _, name := range []string{"etcd", "nats"} {
		kind := systems.All[name]
		if err := goBuild(ctx, b.bench(), filepath.Join(dir, kind.Server), kind.Module); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// Jars gives the folder with the jars of a Java server, and an empty name for
// another system. The first time Maven fetches them.
func (b Builder) Jars(ctx context.Context, kind systems.Kind) (string, error) {
	if kind.Set == "" {
		return "", nil
	}
	dir, err := javaparts.Jars(ctx, javaparts.Set(kind.Set))
	if err != nil {
		return "", fmt.Errorf("the jars of %s (--systems leaves it out): %w", kind.Title, err)
	}
	return dir, nil
}

// Tidemark is a build of it, and a drive with its client.
type Tidemark struct {
	// Rev names the revision; empty if git does not know it.
	Rev string
	// Older tells that it is not what lies in the folder.
	Older bool
	// Dir holds tidemarkd, Drive is the program that drives systems.
	Dir, Drive string
}

// Current builds what lies in the folder.
func (b Builder) Current(ctx context.Context) (Tidemark, error) {
	dir := filepath.Join(b.Out, "current")
	t := Tidemark{Rev: b.revision(ctx), Dir: dir, Drive: filepath.Join(dir, "drive")}
	if err := goBuild(ctx, b.Root, filepath.Join(dir, "tidemarkd"), "./cmd/node"); err != nil {
		return t, err
	}
	return t, goBuild(ctx, b.bench(), t.Drive, "./drive")
}

// Older builds a revision of the repository, and today's drive with its client.
func (b Builder) Older(ctx context.Context, rev string) (Tidemark, error) {
	dir := filepath.Join(b.Out, "rev-"+strings.ReplaceAll(rev, "/", "-"))
	t := Tidemark{Rev: rev, Older: true, Dir: dir, Drive: filepath.Join(dir, "drive")}
	source := filepath.Join(dir, "source")
	if err := b.unpack(ctx, rev, source); err != nil {
		return t, err
	}
	if err := goBuild(ctx, source, filepath.Join(dir, "tidemarkd"), "./cmd/node"); err != nil {
		return t, err
	}
	// Its client takes the place of today's by a go.mod of its own.
	mod := filepath.Join(dir, "drive.mod")
	for from, to := range map[string]string{"go.mod": mod, "go.sum": filepath.Join(dir, "drive.sum")} {
		text, err := os.ReadFile(filepath.Join(b.bench(), from))
		if err != nil {
			return t, err
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return t, err
		}
	}
	if err := run(ctx, b.bench(), "go", "mod", "edit", "-replace", "github.com/tidemark-mq/tidemark="+source, mod); err != nil {
		return t, err
	}
	return t, goBuild(ctx, b.bench(), t.Drive, "./drive", "-modfile", mod, "-mod", "mod")
}

// unpack lays out a revision, but for its bench, whose packages are today's.
func (b Builder) unpack(ctx context.Context, rev, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	archive := exec.CommandContext(ctx, "git", "-C", b.Root, "archive", rev, "--", ".", ":!bench")
	archive.Stderr = os.Stderr
	files, err := archive.StdoutPipe()
	if err != nil {
		return err
	}
	if err := archive.Start(); err != nil {
		return err
	}
	tar := exec.CommandContext(ctx, "tar", "-x", "-C", dir)
	tar.Stdin, tar.Stderr = files, os.Stderr
	unpacked := tar.Run()
	if err := archive.Wait(); err != nil {
		return fmt.Errorf("git archive %s: %w", rev, err)
	}
	return unpacked
}

// revision names what lies in the folder; empty if git does not know.
func (b Builder) revision(ctx context.Context) string {
	out, _ := exec.CommandContext(ctx, "git", "-C", b.Root, "describe", "--always", "--dirty").Output() // it is for information only
	return strings.TrimSpace(string(out))
}
