package systems

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// patience is how long processes may take to serve, ending to end.
const (
	patience = 3 * time.Minute
	ending   = 20 * time.Second
)

// process is one server. The zero value is one that does not run.
type process struct {
	cmd *exec.Cmd
	log string
	// done is closed once it has ended; what Wait says is in the log's end.
	done chan struct{}
}

// start runs a program whose output goes to a file of the folder, which it is
// appended to. The process is killed with the one that started it.
func (p *process) start(dir, name, program string, args ...string) error {
	p.log = filepath.Join(dir, name+".log")
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	// Ctrl-C is for the one who started it, who stops it; if that one is killed, it is too.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	p.cmd, p.done = cmd, make(chan struct{})
	go func(done chan struct{}) { // kill and stop wait for it
		defer close(done)
		_ = cmd.Wait() // whoever misses the process looks into its log
	}(p.done)
	return nil
}

// running tells whether it has been started and not ended.
func (p *process) running() bool {
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// kill ends it with SIGKILL, waits for its end, and gives the moment before.
func (p *process) kill() (time.Time, error) {
	if !p.running() {
		return time.Time{}, fmt.Errorf("the process to kill has ended by itself; see %s", p.log)
	}
	at := time.Now()
	if err := p.cmd.Process.Kill(); err != nil {
		return at, err
	}
	<-p.done
	return at, nil
}

// stop ends it with SIGTERM, or with SIGKILL if that takes too long.
func (p *process) stop() error {
	if !p.running() {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
	case <-time.After(ending):
		_ = p.cmd.Process.Kill() // it may have ended now
		<-p.done
	}
	return nil
}

// stopAll ends all of them at once.
func stopAll(list []process) error {
	all := make(chan error, len(list))
	for i := range list {
		go func() { all <- list[i].stop() }() // the loop below waits for it
	}
	var err error
	for range list {
		err = errors.Join(err, <-all)
	}
	return err
}

// killAll ends all of them with SIGKILL; what has ended by itself is none of it.
func killAll(list []process) error {
	var err error
	for i := range list {
		if list[i].running() {
			_, killed := list[i].kill()
			err = errors.Join(err, killed)
		}
	}
	return err
}

// restart kills all, and starts them again.
func restart(list []process, start func(i int) error) (time.Time, error) {
	if err := killAll(list); err != nil {
		return time.Time{}, err
	}
	began := time.Now()
	for i := range list {
		if err := start(i); err != nil {
			return began, err
		}
	}
	return began, nil
}

// await asks until it is told nil, and gives the last answer if that takes too
// long or one of the processes has ended.
func await(ctx context.Context, list []process, ask func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	for {
		call, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := ask(call)
		cancel()
		if err == nil {
			return nil
		}
		for i := range list {
			if !list[i].running() {
				return fmt.Errorf("a server has ended; see %s (%w)", list[i].log, err)
			}
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the servers do not serve after %v; their logs are beside %s: %w", time.Since(began).Round(time.Second), list[0].log, err)
		}
	}
}

// freePorts gives ports that nobody listens on, below those that the system
// hands out by itself.
func freePorts(n int) ([]int, error) {
	var list []int
	for range 1000 {
		port := 12_000 + rand.IntN(20_000)
		l, err := net.Listen("tcp", local(port))
		if err != nil {
			continue
		}
		defer l.Close() // all are held until all are found
		if list = append(list, port); len(list) == n {
			return list, nil
		}
	}
	return nil, fmt.Errorf("found no %d free ports", n)
}

// local is an address on this machine.
func local(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }
