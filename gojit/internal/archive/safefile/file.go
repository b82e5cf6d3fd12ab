package safefile

import (
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/source"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// readStep is how many bytes of a file one goroutine reads at once.
const readStep = 8 << 20

// Progress is told how many bytes are done, of how many. An error of it ends the work. nil is told nothing.
type Progress func(done, total int64) error

// ReadFile reads a file into memory of its own, so that nothing that happens to the file later changes what was read. It fails where
// the file is no regular file, is larger than the memory, or becomes shorter meanwhile. progress is called by the caller's goroutine.
func ReadFile(path string, progress Progress) ([]byte, error) {
	f, size, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := tensor.TryLargeBytes(int(size))
	if err != nil {
		return nil, err
	}
	return data, ReadAt(f, data, 0, progress)
}

// OpenRegular opens a file that has a size, which is one that memory may have.
func OpenRegular(path string) (f *os.File, size int64, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return nil, 0, source.Errorf(source.RuntimeError, source.Range{}, "%s is no regular file", path)
	}
	if f, err = os.Open(path); err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = source.Errorf(source.RuntimeError, source.Range{}, "%s is no regular file", path)
	case info.Size() > int64(tensor.MemoryLimit()):
		err = source.Errorf(source.RuntimeError, source.Range{}, "%s has %d bytes, more than there is memory", path, info.Size())
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// ReadAt fills data with what stands in a file from offset on, in several goroutines.
func ReadAt(f *os.File, data []byte, offset int64, progress Progress) error {
	steps := (len(data) + readStep - 1) / readStep
	next, results := make(chan int, steps), make(chan error, steps)
	for i := range steps {
		next <- i * readStep
	}
	close(next)
	var running sync.WaitGroup
	defer running.Wait()
	for range min(steps, runtime.GOMAXPROCS(0)) {
		running.Go(func() {
			for at := range next {
				results <- ReadPart(f, data[at:min(at+readStep, len(data))], offset+int64(at))
			}
		})
	}
	for i := range steps {
		err := <-results
		if err == nil && progress != nil {
			err = progress(int64(min((i+1)*readStep, len(data))), int64(len(data)))
		}
		if err != nil {
			for range next { // nobody is to read more
			}
			return err
		}
	}
	return nil
}

func ReadPart(f *os.File, data []byte, offset int64) error {
	_, err := f.ReadAt(data, offset)
	if err == io.EOF {
		return source.Errorf(source.RuntimeError, source.Range{}, "the file became shorter while it was read")
	}
	return err
}
