package safefile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Replacement is a file that is being written and takes the place of another when it is whole. All formats are written through it: whoever
// reads the name sees the old file or the new one, also where several write it at once, and the mode and the links of the old one stay.
// What is no regular file, a device or a pipe, is written as it is.
type Replacement struct {
	File *os.File

	target    string // "" where File is what is named
	temporary string // the name of File, "" where it has none until it is whole
}

// NewReplacement begins to write a file for a name. It fails where the folder is not there or cannot be written.
func NewReplacement(name string) (*Replacement, error) {
	mode := os.FileMode(0o666)
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		return &Replacement{File: f}, err
	}
	known := err == nil
	if known {
		mode = info.Mode().Perm()
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return nil, err
		}
	} else if name, err = linkTarget(name); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Dir(name)); err != nil {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "Parent directory %s does not exist.", filepath.Dir(name))
	}
	r := &Replacement{target: name}
	if r.File = createNameless(filepath.Dir(name), mode); r.File == nil {
		if r.File, err = createBeside(name, mode); err != nil {
			return nil, err
		}
		r.temporary = r.File.Name()
	}
	if known {
		if err := r.File.Chmod(mode); err != nil { // the mask of the process has no say in the mode of a file that is there
			r.Abandon()
			return nil, err
		}
	}
	return r, nil
}

// linkTarget follows symbolic links to a file that is not there yet.
func linkTarget(name string) (string, error) {
	for range 40 {
		to, err := os.Readlink(name)
		if err != nil {
			return name, nil // no link
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(name), to)
		}
		name = to
	}
	return "", fmt.Errorf("%s has too many levels of symbolic links", name)
}

// Commit writes the file to the disk and puts it in its place. Where it fails the old file stays as it is.
func (r *Replacement) Commit() error {
	if r.target == "" {
		return r.File.Close()
	}
	if err := r.File.Sync(); err != nil {
		r.Abandon()
		return err
	}
	if r.temporary == "" {
		name, err := nameFile(r.File, r.target)
		if err != nil {
			r.Abandon()
			return err
		}
		r.temporary = name
	}
	err := r.File.Close()
	if err == nil {
		err = os.Rename(r.temporary, r.target)
	}
	if err != nil {
		os.Remove(r.temporary)
		return err
	}
	syncFolder(filepath.Dir(r.target))
	return nil
}

// Abandon gives up the file. The old one stays as it is.
func (r *Replacement) Abandon() {
	r.File.Close()
	if r.temporary != "" {
		os.Remove(r.temporary)
	}
}

// ReplaceFile writes a file with what write writes, as a Replacement.
func ReplaceFile(name string, write func(io.Writer) error) error {
	r, err := NewReplacement(name)
	if err != nil {
		return err
	}
	if err := write(r.File); err != nil {
		r.Abandon()
		return err
	}
	return r.Commit()
}

// syncFolder makes the new name last. Some systems cannot; the file itself is written then all the same.
func syncFolder(name string) {
	if f, err := os.Open(name); err == nil {
		_ = f.Sync()
		f.Close()
	}
}

// createBeside makes a new file with a name like that of another in its folder.
func createBeside(name string, mode os.FileMode) (f *os.File, err error) {
	err = nameBeside(name, func(other string) error {
		f, err = os.OpenFile(other, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		return err
	})
	return f, err
}

// nameBeside calls create with names like another until one is not taken.
func nameBeside(name string, create func(other string) error) error {
	for i := 0; ; i++ {
		err := create(fmt.Sprintf("%s.%d.%d.part", name, os.Getpid(), i))
		if !os.IsExist(err) || i == 1000 {
			return err
		}
	}
}
