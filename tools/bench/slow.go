package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// slowFD is the number under which a slowed program finds the socket over which it gives away its listener.
const slowFD = 3

// slowFlush makes every fsync and fdatasync of a command take so much longer, without its knowledge. The kernel asks us about each of them and lets the thread wait until we
// say that it may go on; nothing else of the command is slower, as it would be under a debugger. The command starts as this program in the part slow,
// which asks the kernel for that and then becomes the command. The returned function ends the asking, and tells how many flushes there were.
func slowFlush(cmd *exec.Cmd, more time.Duration) (end func() (int, error), err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("a socket: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	self, err := os.Executable()
	if err != nil {
		return nil, errors.Join(err, ours.Close(), theirs.Close())
	}
	cmd.Args = append([]string{self, "slow", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = self
	cmd.Env = append(cmd.Environ(), roleEnv+"=1")
	cmd.ExtraFiles = []*os.File{theirs}
	flushes, done := 0, make(chan error, 1)
	go func() {
		var err error
		flushes, err = answerFlushes(ours, more)
		done <- err
	}()
	return func() (int, error) {
		// Nobody who could still send holds the other end after this; so a command that never started ends the asking too.
		err := errors.Join(theirs.Close(), <-done)
		return flushes, err
	}, nil
}

// answerFlushes gets the listener and lets each call go on after its time, until the command has ended.
func answerFlushes(socket *os.File, more time.Duration) (flushes int, err error) {
	conn, err := net.FileConn(socket)
	if err := errors.Join(err, socket.Close()); err != nil {
		return flushes, err
	}
	defer func() { _ = conn.Close() }()
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.(*net.UnixConn).ReadMsgUnix(make([]byte, 1), rights)
	if err != nil || n == 0 {
		return 0, errors.Join(errors.New("the slowed program did not start"), err)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil {
		return flushes, err
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return flushes, err
	}
	listener := fds[0]
	defer func() { _ = unix.Close(listener) }()
	for {
		polled := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(polled, -1); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil {
			return flushes, err
		}
		if polled[0].Revents&unix.POLLIN == 0 {
			return flushes, nil // nobody is left who could call
		}
		var call notification
		if err := ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&call)); err != nil {
			continue // killed meanwhile, or a signal
		}
		flushes++
		time.AfterFunc(more, func() {
			answer := notificationAnswer{id: call.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
			_ = ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&answer)) // an error: it was killed meanwhile
		})
	}
}

// notification and notificationAnswer are the kernel's seccomp_notif and seccomp_notif_resp.
type notification struct {
	id         uint64
	pid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

type notificationAnswer struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

func ioctl(fd int, request uintptr, argument unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(argument)); errno != 0 {
		return errno
	}
	return nil
}

// runSlow becomes the command, with every flush of which the kernel asks whoever holds the listener.
func runSlow(args []string) error {
	if len(args) == 0 {
		return errors.New("the part slow needs a command")
	}
	runtime.LockOSThread() // the filter is this thread's, and goes over to the command with it
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	ask := func(nr uint32, skip uint8) []unix.SockFilter {
		return []unix.SockFilter{{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: skip, K: nr}}
	}
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the number of the call
	filter = append(filter, ask(unix.SYS_FSYNC, 2)...)
	filter = append(filter, ask(unix.SYS_FDATASYNC, 1)...)
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("asking the kernel to be asked: %w", errno)
	}
	if err := unix.Sendmsg(slowFD, []byte{0}, unix.UnixRights(int(listener)), nil, 0); err != nil {
		return fmt.Errorf("giving the listener away: %w", err)
	}
	unix.CloseOnExec(int(listener))
	unix.CloseOnExec(slowFD)
	return syscall.Exec(args[0], args, os.Environ())
}
