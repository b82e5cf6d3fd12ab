package bind

import (
	"github.com/torchjit/torchjit/gojit/internal/gpu"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Tensors on CUDA devices are kept on the GPUs of the machine; the driver is looked for when a program asks for a device.
func init() { gpu.Register() }

var cudaFunctions = []function{
	{schema: "cuda_device_count() -> int", doc: "The number of CUDA devices that can be used.", run: cudaDeviceCount},
	{schema: "cuda_check() -> None", doc: "Raises AssertionError where there is no CUDA device, with a note of what was looked for and where.", run: func(*call) error { return checkCUDA() }},
	{schema: "cuda_current_device() -> int", doc: "The number of the device that is meant where no number is given.", run: cudaCurrentDevice},
	{schema: "cuda_set_device(int device) -> None", doc: "Changes which device is meant where no number is given.", run: cudaSetDevice},
	{schema: "cuda_device_name(int device) -> str", doc: "What NVIDIA calls a device.", run: ofCUDADevice(func(c *call, v *gpu.Device) error { c.string(v.Name()); return nil })},
	{schema: "cuda_device_properties(int device) -> int[]", doc: "Major and minor number of a device's capability, its multiprocessors and bytes of memory.", run: ofCUDADevice(cudaDeviceProperties)},
	{schema: "cuda_synchronize(int device) -> None", doc: "Waits until a device has done what it was given.", run: ofCUDADevice(func(_ *call, v *gpu.Device) error { return v.Synchronize() })},
	{schema: "cuda_empty_cache() -> None", doc: "Gives the memory that is kept for reuse back to the driver.", run: cudaEmptyCache},
	{schema: "cuda_memory(int device) -> int[]", doc: "The bytes of tensors, and reserved, of a device: now, and the most there were.", run: ofCUDADevice(cudaMemory)},
	{schema: "cuda_memory_info(int device) -> int[]", doc: "The bytes that a device has left, and those it has.", run: ofCUDADevice(cudaMemoryInfo)},
	{schema: "cuda_counts(int device) -> int[]", doc: "How many kernels and graphs a device was given, copies from the processor, to it and within the device, and how often its driver was asked for memory.", run: ofCUDADevice(cudaCounts)},
	{schema: "cuda_manual_seed(int device, int seed) -> None", doc: "Has a device's stream of random numbers begin anew.", run: ofCUDADevice(func(c *call, v *gpu.Device) error { v.Seed(uint64(c.argInt(1))); return nil })},
	{schema: "cuda_rng_state(int device) -> int[]", doc: "The seed of a device's stream of random numbers, and how many numbers each thread has drawn.", run: ofCUDADevice(func(c *call, v *gpu.Device) error {
		seed, offset := v.RandomState()
		c.ints(kindList, []int{int(seed), int(offset)})
		return nil
	})},
	{schema: "cuda_set_rng_state(int device, int seed, int offset) -> None", doc: "Has a device's stream of random numbers go on from a state.", run: ofCUDADevice(func(c *call, v *gpu.Device) error {
		return v.SetRandomState(uint64(c.argInt(1)), uint64(c.argInt(2)))
	})},
	{schema: "cuda_stream(int device, int priority) -> int", doc: "A further stream of a device, as the driver's handle.", run: ofCUDADevice(cudaStream)},
	{schema: "cuda_current_stream(int device) -> int", doc: "The stream that the calling thread gives work of a device on.", run: ofCUDADevice(func(c *call, v *gpu.Device) error { c.int(int(v.Stream().Handle())); return nil })},
	{schema: "cuda_default_stream(int device) -> int", doc: "The stream that work of a device is given on where nothing is said.", run: ofCUDADevice(func(c *call, v *gpu.Device) error { c.int(int(v.DefaultStream().Handle())); return nil })},
	{schema: "cuda_priority_range(int device) -> int[]", doc: "The least and the greatest priority of streams.", run: ofCUDADevice(cudaPriorityRange)},
	{schema: "cuda_set_stream(int device, int stream) -> None", doc: "Has the calling thread give work of a device on a stream.", run: ofCUDAStream(func(_ *call, v *gpu.Device, s *gpu.Stream) error { v.SetStream(s); return nil })},
	{schema: "cuda_stream_priority(int device, int stream) -> int", doc: "The priority of a stream.", run: ofCUDAStream(func(c *call, _ *gpu.Device, s *gpu.Stream) error { c.int(s.Priority()); return nil })},
	{schema: "cuda_stream_synchronize(int device, int stream) -> None", doc: "Waits until a stream's work is done.", run: ofCUDAStream(func(_ *call, _ *gpu.Device, s *gpu.Stream) error { return s.Synchronize() })},
	{schema: "cuda_stream_done(int device, int stream) -> bool", doc: "Whether a stream's work is done.", run: ofCUDAStream(cudaStreamDone)},
	{schema: "cuda_stream_wait(int device, int stream, any event) -> None", doc: "Has what is given on a stream from now on be done behind a mark.", run: ofCUDAStream(cudaStreamWait)},
	{schema: "cuda_stream_capturing(int device, int stream) -> bool", doc: "Whether a stream's work becomes a graph.", run: ofCUDAStream(func(c *call, _ *gpu.Device, s *gpu.Stream) error { c.bool(s.IsCapturing()); return nil })},
	{schema: "cuda_record_stream(Tensor tensor, int stream) -> None", doc: "Says that a stream uses a tensor's memory, which was allocated on another.", run: cudaRecordStream},
	{schema: "cuda_event(int device, int stream, bool timed, bool blocking) -> any", doc: "Marks the end of what a stream was given to do so far.", run: ofCUDAStream(cudaEvent)},
	{schema: "cuda_event_done(any event) -> bool", doc: "Whether a stream has come to a mark.", run: ofCUDAEvent(func(c *call, e *gpu.Event) error {
		done, err := e.IsDone()
		c.bool(done)
		return err
	})},
	{schema: "cuda_event_synchronize(any event) -> None", doc: "Waits until a stream has come to a mark.", run: ofCUDAEvent(func(_ *call, e *gpu.Event) error { return e.Synchronize() })},
	{schema: "cuda_event_elapsed(any event, any end) -> float", doc: "The milliseconds between two marks.", run: ofCUDAEvent(cudaEventElapsed)},
	{schema: "cuda_graph(int device) -> any", doc: "A graph of a device's work, without any.", run: ofCUDADevice(func(c *call, v *gpu.Device) error {
		c.handle(handleCapsule, &value.Capsule{Kind: "CUDA graph", Content: v.NewGraph()})
		return nil
	})},
	{schema: "cuda_graph_pool(int device) -> any", doc: "Memory for graphs of a device.", run: ofCUDADevice(func(c *call, v *gpu.Device) error {
		c.handle(handleCapsule, &value.Capsule{Kind: "memory of CUDA graphs", Content: v.NewGraphPool()})
		return nil
	})},
	{schema: "cuda_graph_begin(any graph, any pool) -> None", doc: "Has what the current stream is given from now on become a graph.", run: ofCUDAGraph(cudaGraphBegin)},
	{schema: "cuda_graph_end(any graph) -> int", doc: "Ends what cuda_graph_begin began: of how many kernels the graph is made.", run: ofCUDAGraph(cudaGraphEnd)},
	{schema: "cuda_graph_replay(any graph) -> None", doc: "Has the current stream do a graph's work.", run: ofCUDAGraph(func(_ *call, g *gpu.Graph) error { return g.Replay() })},
	{schema: "cuda_graph_reset(any graph) -> None", doc: "Takes its work from a graph.", run: ofCUDAGraph(func(_ *call, g *gpu.Graph) error { g.Reset(); return nil })},
	{schema: "cuda_package_folders(list folders) -> None", doc: "Says where packages of Python are: NVIDIA's have libraries.", run: func(c *call) error { gpu.SetPackageFolders(c.argStrings(0)); c.none(); return nil }},
	{schema: "cuda_setting(str name) -> bool", doc: "What a program chose for CUDA's libraries.", run: ofCUDASetting(func(c *call, s gpu.Setting) { c.bool(s.IsSet()) })},
	{schema: "cuda_set(str name, bool on) -> None", doc: "Chooses something for CUDA's libraries.", run: ofCUDASetting(func(c *call, s gpu.Setting) { s.Set(c.argBool(1)); c.none() })},
	{schema: "cuda_dnn_version() -> int", doc: "The version of cuDNN, 0 where it is not used.", run: cudaDNNVersion},
	{schema: "cuda_reset_peak(int device) -> None", doc: "Has the most that was used of a device count from now on.", run: ofCUDADevice(func(_ *call, v *gpu.Device) error { v.ResetPeak(); return nil })},
}

// checkCUDA fails where there is no CUDA device.
func checkCUDA() error {
	_, err := gpu.Machine().Devices()
	if err == nil {
		return nil
	}
	refused := source.Errorf(source.AssertionError, source.Range{}, "Torch not compiled with CUDA enabled")
	refused.Advice = append(refused.Advice, err.Error())
	return refused
}

// ofCUDADevice makes the run of a function whose first argument is the number of a device, that of the current one for -1.
func ofCUDADevice(run func(c *call, v *gpu.Device) error) func(c *call) error {
	return func(c *call) error {
		if err := checkCUDA(); err != nil {
			return err
		}
		v, err := gpu.Machine().Device(tensor.NewDevice(tensor.CUDA, c.argInt(0)))
		if err != nil {
			return err
		}
		return run(c, v)
	}
}

func cudaDeviceCount(c *call) error {
	all, err := gpu.Machine().Devices()
	if err != nil {
		all = nil // a program asks by this whether there are any
	}
	c.int(len(all))
	return nil
}

func cudaCurrentDevice(c *call) error {
	if err := checkCUDA(); err != nil {
		return err
	}
	c.int(gpu.Machine().Current())
	return nil
}

func cudaSetDevice(c *call) error {
	if err := checkCUDA(); err != nil {
		return err
	}
	return gpu.Machine().SetCurrent(c.argInt(0))
}

func cudaDeviceProperties(c *call, v *gpu.Device) error {
	_, total, err := v.MemoryInfo()
	if err != nil {
		return err
	}
	major, minor := v.Capability()
	c.ints(kindList, []int{major, minor, v.Units(), total})
	return nil
}

func cudaEmptyCache(*call) error {
	all, err := gpu.Machine().Devices()
	if err != nil {
		return nil // there is nothing to give back
	}
	for _, v := range all {
		if err := v.EmptyCache(); err != nil {
			return err
		}
	}
	return nil
}

func cudaMemory(c *call, v *gpu.Device) error {
	s := v.Statistics()
	c.ints(kindList, []int{s.Allocated, s.MostAllocated, s.Reserved, s.MostReserved})
	return nil
}

func cudaMemoryInfo(c *call, v *gpu.Device) error {
	free, total, err := v.MemoryInfo()
	if err != nil {
		return err
	}
	c.ints(kindList, []int{free, total})
	return nil
}

func cudaCounts(c *call, v *gpu.Device) error {
	n := v.Counts()
	c.ints(kindList, []int{n.Launches, n.GraphLaunches, n.Uploads, n.Downloads, n.Copies, n.Allocations})
	return nil
}

// ofCUDAStream makes the run of a function whose first arguments are the number of a device and the handle of a stream.
func ofCUDAStream(run func(c *call, v *gpu.Device, s *gpu.Stream) error) func(c *call) error {
	return ofCUDADevice(func(c *call, v *gpu.Device) error { return run(c, v, v.StreamOf(uintptr(c.argInt(1)))) })
}

func cudaStream(c *call, v *gpu.Device) error {
	s, err := v.NewStream(c.argInt(1))
	if err == nil {
		c.int(int(s.Handle()))
	}
	return err
}

func cudaPriorityRange(c *call, v *gpu.Device) error {
	least, greatest, err := v.PriorityRange()
	c.ints(kindList, []int{least, greatest})
	return err
}

func cudaStreamDone(c *call, _ *gpu.Device, s *gpu.Stream) error {
	done, err := s.IsDone()
	c.bool(done)
	return err
}

func cudaStreamWait(c *call, _ *gpu.Device, s *gpu.Stream) error {
	e, err := c.argEvent(2)
	if err != nil {
		return err
	}
	return s.WaitFor(e)
}

func cudaRecordStream(c *call) error {
	t := c.argTensor(0)
	if !t.OnDevice() {
		return source.Errorf(source.RuntimeError, source.Range{}, "record_stream is for tensors on a CUDA device, not on %s", t.Device())
	}
	v, err := gpu.Machine().Device(t.Device())
	if err != nil {
		return err
	}
	v.RecordStream(t.Storage().Address(), v.StreamOf(uintptr(c.argInt(1))))
	return nil
}

// ofCUDAGraph makes the run of a function whose first argument is a graph.
func ofCUDAGraph(run func(c *call, g *gpu.Graph) error) func(c *call) error {
	return func(c *call) error {
		if held, ok := c.arg(0).content().(*value.Capsule); ok {
			if g, ok := held.Content.(*gpu.Graph); ok {
				return run(c, g)
			}
		}
		return typeErrorf("expected a graph of a CUDA device, not %s", c.arg(0).kindName())
	}
}

func cudaGraphBegin(c *call, g *gpu.Graph) error {
	if held, ok := c.arg(1).content().(*value.Capsule); ok {
		if pool, ok := held.Content.(*gpu.GraphPool); ok {
			return g.Begin(pool)
		}
	}
	return typeErrorf("expected memory of CUDA graphs, as torch.cuda.graph_pool_handle() gives it, not %s", c.arg(1).kindName())
}

func cudaGraphEnd(c *call, g *gpu.Graph) error {
	if err := g.End(); err != nil {
		return err
	}
	c.int(g.Launches())
	return nil
}

// ofCUDASetting makes the run of a function whose first argument is the name of a setting.
func ofCUDASetting(run func(c *call, s gpu.Setting)) func(c *call) error {
	return func(c *call) error {
		s, ok := gpu.SettingOf(c.argText(0))
		if !ok {
			return typeErrorf("CUDA's libraries have no setting %q", c.argString(0))
		}
		run(c, s)
		return nil
	}
}

func cudaDNNVersion(c *call) error {
	version := 0
	if all, err := gpu.Machine().Devices(); err == nil && len(all) > 0 {
		if version, err = all[0].DNNVersion(); err != nil {
			version = 0
		}
	}
	c.int(version)
	return nil
}

// eventKind is the kind of the capsules that hold events.
const eventKind = "CUDA event"

func cudaEvent(c *call, _ *gpu.Device, s *gpu.Stream) error {
	e, err := s.NewEvent(c.argBool(2), c.argBool(3))
	if err == nil {
		c.handle(handleCapsule, &value.Capsule{Kind: eventKind, Content: e})
	}
	return err
}

// ofCUDAEvent makes the run of a function whose first argument is an event.
func ofCUDAEvent(run func(c *call, e *gpu.Event) error) func(c *call) error {
	return func(c *call) error {
		e, err := c.argEvent(0)
		if err != nil {
			return err
		}
		return run(c, e)
	}
}

func (c *call) argEvent(i int) (*gpu.Event, error) {
	if held, ok := c.arg(i).content().(*value.Capsule); ok {
		if e, ok := held.Content.(*gpu.Event); ok {
			return e, nil
		}
	}
	return nil, typeErrorf("expected an event of a CUDA device, not %s", c.arg(i).kindName())
}

func cudaEventElapsed(c *call, e *gpu.Event) error {
	end, err := c.argEvent(1)
	if err != nil {
		return err
	}
	passed, err := e.Until(end)
	c.float(passed)
	return err
}
