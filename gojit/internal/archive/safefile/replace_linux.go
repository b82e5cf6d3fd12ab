package safefile

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// createNameless makes a file in a folder that has no name: it is gone when the process ends before it is named. It returns nil where the
// system or the file system cannot, or the file could not be named later.
func createNameless(folder string, mode os.FileMode) *os.File {
	fd, err := unix.Open(folder, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, uint32(mode.Perm()))
	if err != nil {
		return nil
	}
	if _, err := os.Stat(openFile(fd)); err != nil { // no /proc
		unix.Close(fd)
		return nil
	}
	return os.NewFile(uintptr(fd), folder)
}

func openFile(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// nameFile gives a file without a name one beside target.
func nameFile(f *os.File, target string) (name string, err error) {
	from := openFile(int(f.Fd()))
	err = nameBeside(target, func(other string) error {
		name = other
		return unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, other, unix.AT_SYMLINK_FOLLOW)
	})
	if err != nil {
		return "", fmt.Errorf("the file cannot be named %s: %w", name, err)
	}
	return name, nil
}
