package gpu

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// wanted is a shared library that is opened at run time.
type wanted struct {
	what     string         // what it is called in messages
	names    []string       // of its file, newest first
	marker   string         // a function that it has
	ofCUDA   bool           // its number is CUDA's: one that is newer than the driver cannot be used
	least    map[string]int // by the names that have numbers of their own, which CUDA they need
	ofSystem bool           // the system's alone: it is in no package
	beside   []string       // patterns of files that it opens itself by their names alone: those in its folder are opened before it
}

// The libraries that are used. The driver is the system's; the others come with CUDA or as packages of Python.
var (
	wantedDriver   = &wanted{what: "NVIDIA's driver", names: []string{"libcuda.so.1", "libcuda.so"}, marker: "cuInit", ofSystem: true}
	wantedCompiler = &wanted{what: "CUDA's compiler NVRTC", names: []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"}, marker: "nvrtcVersion", ofCUDA: true,
		beside: []string{"libnvrtc-builtins.so.*"}}
	wantedBLAS = &wanted{what: "cuBLAS", names: []string{"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"}, marker: "cublasCreate_v2", ofCUDA: true,
		beside: []string{"libcublasLt.so.*"}}
	wantedFFT = &wanted{what: "cuFFT", names: []string{"libcufft.so.12", "libcufft.so.11", "libcufft.so.10", "libcufft.so"}, marker: "cufftMakePlanMany64", ofCUDA: true,
		least: map[string]int{"libcufft.so.12": 13, "libcufft.so.11": 12, "libcufft.so.10": 11}}
	wantedSolver = &wanted{what: "cuSOLVER", names: []string{"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"}, marker: "cusolverDnCreate", ofCUDA: true,
		least:  map[string]int{"libcusolver.so.12": 13, "libcusolver.so.11": 11},
		beside: []string{"libnvJitLink.so.*", "libcublasLt.so.*", "libcublas.so.*", "libcusparse.so.*"}}
	wantedDNN = &wanted{what: "cuDNN", names: []string{"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so"}, marker: "cudnnCreate"}
)

// procedure is a function of a library that is called often: by words, without the reflection that other functions are called by. It returns a code.
type procedure uintptr

// libraryError is the error of a code that a function of a library returned, nil for success. text is what the library says of the code, or nil.
func libraryError(library, function string, code int32, text func(code int32) *byte) error {
	if code == 0 {
		return nil
	}
	said := fmt.Sprintf("error %d", code)
	if at := text(code); at != nil {
		said = unsafe.String(at, textLength(at))
	}
	return source.Errorf(source.RuntimeError, source.Range{}, "%s error: %s (%s)", library, said, function)
}

// namedError is libraryError of a library that has no function for texts of its codes.
func namedError(library, function string, code int32, names map[int32]string) error {
	if code == 0 {
		return nil
	}
	name := names[code]
	if name == "" {
		name = fmt.Sprintf("error %d", code)
	}
	return source.Errorf(source.RuntimeError, source.Range{}, "%s error: %s (%s)", library, name, function)
}

// beginning is the first use of a library by a device.
type beginning struct {
	once sync.Once
	why  error // why it is not used
}

// done reports whether the library is used. The first time begin makes it ready, and text says which it is.
func (b *beginning) done(v *Device, begin func() error, text func() string) bool {
	b.once.Do(func() {
		b.why = begin()
		v.logLibrary("%s", text())
	})
	return b.why == nil
}

// word is an integer as procedures take it.
func word(n int32) uintptr { return uintptr(uint32(n)) }

// Variables that say where libraries are.
const (
	// driverVariable names libraries that take the place of all others: a driver elsewhere, or the software device of the tests.
	driverVariable = "GOJIT_CUDA_DRIVER"
	// librariesVariable names folders that are looked into first; "0" has the libraries not be used.
	librariesVariable = "GOJIT_CUDA_LIBRARIES"
)

// packageFolders are the folders that packages of Python are installed in.
var packageFolders atomic.Pointer[[]string]

// SetPackageFolders says in which folders packages of Python are installed: NVIDIA's have libraries in nvidia/*/lib. They are looked into when a
// library is opened.
func SetPackageFolders(folders []string) { packageFolders.Store(&folders) }

// finder looks for libraries.
type finder struct {
	only     []string // files that are all there is, where there are any
	first    []string // folders
	packages []string // folders of packages of Python
	off      bool     // the libraries are not used
	version  int32    // the highest version of CUDA that the driver knows, 13000 for 13.0
}

// machineFinder looks where the variables and the packages of Python say.
func machineFinder() *finder {
	f := &finder{}
	if names := os.Getenv(driverVariable); names != "" {
		f.only = filepath.SplitList(names)
	}
	if folders := os.Getenv(librariesVariable); folders == "0" {
		f.off = true
	} else if folders != "" {
		f.first = filepath.SplitList(folders)
	}
	if folders := packageFolders.Load(); folders != nil {
		f.packages = *folders
	}
	return f
}

// openOptional opens a library that nothing needs: the variable may say that it is not used.
func (f *finder) openOptional(w *wanted) (*library, error) {
	if f.off {
		return nil, fmt.Errorf("the variable %s is 0", librariesVariable)
	}
	return f.open(w)
}

// open opens the first of a library's files that is there. The error says what was looked for and where, and what is the matter with the first file
// that is there, or else with the first name.
func (f *finder) open(w *wanted) (*library, error) {
	var found, first error
	names := f.namesOf(w)
	for _, name := range names {
		for _, path := range f.pathsOf(w, name) {
			if filepath.IsAbs(path) {
				openBeside(w, filepath.Dir(path))
			}
			l, err := openLibrary(path)
			if err == nil {
				if err = l.lacks(w.marker); err == nil {
					return l, nil
				}
			}
			if first == nil {
				first = err
			}
			if _, is := os.Stat(path); is == nil && found == nil {
				found = err
			}
		}
	}
	if found == nil {
		found = first
	}
	return nil, fmt.Errorf("%s was not found: looked for %s %s: %w", w.what, strings.Join(names, ", "), f.places(w), found)
}

// namesOf returns the names of a library's files that the driver can be used with.
func (f *finder) namesOf(w *wanted) []string {
	if f.only != nil {
		return f.only
	}
	if !w.ofCUDA || f.version == 0 {
		return w.names
	}
	return slices.DeleteFunc(slices.Clone(w.names), func(name string) bool {
		_, number, _ := strings.Cut(name, ".so.")
		major, _, _ := strings.Cut(number, ".")
		n, err := strconv.Atoi(major)
		if least, ok := w.least[name]; ok {
			n = least
		}
		return err == nil && n > int(f.version)/1000
	})
}

// pathsOf returns where a file of a name may be: a name without a folder is looked for by the system.
func (f *finder) pathsOf(w *wanted, name string) []string {
	if f.only != nil {
		return []string{name}
	}
	var paths []string
	for _, folder := range f.first {
		paths = append(paths, filepath.Join(folder, name))
	}
	paths = append(paths, name)
	if w.ofSystem {
		return paths
	}
	for _, folder := range f.packages {
		there, _ := filepath.Glob(filepath.Join(folder, "nvidia", "*", "lib", name))
		paths = append(paths, there...)
	}
	return paths
}

// openBeside opens what a library in a folder opens itself by its name alone.
func openBeside(w *wanted, folder string) {
	for _, pattern := range w.beside {
		files, _ := filepath.Glob(filepath.Join(folder, pattern))
		for _, file := range files {
			_, _ = openLibrary(file) // the library says what it lacks
		}
	}
}

// places says where libraries are looked for.
func (f *finder) places(w *wanted) string {
	if f.only != nil {
		return "as the variable " + driverVariable + " says"
	}
	var text strings.Builder
	if len(f.first) > 0 {
		fmt.Fprintf(&text, "in %s (%s), ", strings.Join(f.first, ", "), librariesVariable)
	}
	text.WriteString("where the system looks for libraries (LD_LIBRARY_PATH and the linker's cache)")
	if len(f.packages) > 0 && !w.ofSystem {
		text.WriteString(" and in the packages of Python (nvidia/*/lib)")
	}
	return text.String()
}

// Libraries says which of CUDA's libraries a device uses: their versions and files, or why one is not used.
type Libraries struct{ BLAS, DNN, FFT, Solver string }

// Libraries opens the libraries and says which they are.
func (v *Device) Libraries() (l Libraries) {
	v.products()
	v.convolutions()
	v.transforms()
	v.solvers()
	return Libraries{BLAS: v.product.text(), DNN: v.convolution.text(), FFT: v.transform.text(), Solver: v.solving.text()}
}

func (p *productLibrary) text() string {
	if p.why != nil {
		return fmt.Sprintf("cuBLAS is not used: %v", p.why)
	}
	return fmt.Sprintf("cuBLAS %d, %s", p.version, p.blas.file)
}

func (c *convolutionLibrary) text() string {
	if c.why != nil {
		return fmt.Sprintf("cuDNN is not used: %v", c.why)
	}
	return fmt.Sprintf("cuDNN %d, %s", c.dnn.cudnnGetVersion(), c.dnn.file)
}
