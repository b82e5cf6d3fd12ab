package tensors

import (
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/gpu"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Tensors on CUDA devices are kept on the GPUs of the machine; the driver is looked for when a program asks for a device.
func init() { gpu.Register() }

var cudaFunctions = []abi.Function{
	{Schema: "cuda_device_count() -> int", Doc: "The number of CUDA devices that can be used.", Run: cudaDeviceCount},
	{Schema: "cuda_check() -> None", Doc: "Raises AssertionError where there is no CUDA device, with a note of what was looked for and where.", Run: func(*abi.Call) error { return abi.CheckCUDA() }},
	{Schema: "cuda_current_device() -> int", Doc: "The number of the device that is meant where no number is given.", Run: cudaCurrentDevice},
	{Schema: "cuda_set_device(int device) -> None", Doc: "Changes which device is meant where no number is given.", Run: cudaSetDevice},
	{Schema: "cuda_device_name(int device) -> str", Doc: "What NVIDIA calls a device.", Run: ofCUDADevice(func(c *abi.Call, v *gpu.Device) error { c.String(v.Name()); return nil })},
	{Schema: "cuda_device_properties(int device) -> int[]", Doc: "Major and minor number of a device's capability, its multiprocessors and bytes of memory.", Run: ofCUDADevice(cudaDeviceProperties)},
	{Schema: "cuda_synchronize(int device) -> None", Doc: "Waits until a device has done what it was given.", Run: ofCUDADevice(func(_ *abi.Call, v *gpu.Device) error { return v.Synchronize() })},
	{Schema: "cuda_empty_cache() -> None", Doc: "Gives the memory that is kept for reuse back to the driver.", Run: cudaEmptyCache},
	{Schema: "cuda_memory(int device) -> int[]", Doc: "The bytes of tensors, and reserved, of a device: now, and the most there were.", Run: ofCUDADevice(cudaMemory)},
	{Schema: "cuda_memory_info(int device) -> int[]", Doc: "The bytes that a device has left, and those it has.", Run: ofCUDADevice(cudaMemoryInfo)},
	{Schema: "cuda_counts(int device) -> int[]", Doc: "How many kernels and graphs a device was given, copies from the processor, to it and within the device, and how often its driver was asked for memory.", Run: ofCUDADevice(cudaCounts)},
	{Schema: "cuda_manual_seed(int device, int seed) -> None", Doc: "Has a device's stream of random numbers begin anew.", Run: ofCUDADevice(func(c *abi.Call, v *gpu.Device) error { return v.Seed(uint64(c.ArgInt(1))) })},
	{Schema: "cuda_rng_state(int device) -> int[]", Doc: "The seed of a device's stream of random numbers, and how many numbers each thread has drawn.", Run: ofCUDADevice(func(c *abi.Call, v *gpu.Device) error {
		seed, offset, err := v.RandomState()
		if err == nil {
			c.Ints(abi.KindList, []int{int(seed), int(offset)})
		}
		return err
	})},
	{Schema: "cuda_set_rng_state(int device, int seed, int offset) -> None", Doc: "Has a device's stream of random numbers go on from a state.", Run: ofCUDADevice(func(c *abi.Call, v *gpu.Device) error {
		return v.SetRandomState(uint64(c.ArgInt(1)), uint64(c.ArgInt(2)))
	})},
	{Schema: "cuda_stream(int device, int priority) -> int", Doc: "A further stream of a device, as the driver's handle.", Run: ofCUDADevice(cudaStream)},
	{Schema: "cuda_current_stream(int device) -> int", Doc: "The stream that the calling thread gives work of a device on.", Run: ofCUDADevice(func(c *abi.Call, v *gpu.Device) error { c.Int(int(v.Stream().Handle())); return nil })},
	{Schema: "cuda_default_stream(int device) -> int", Doc: "The stream that work of a device is given on where nothing is said.", Run: ofCUDADevice(func(c *abi.Call, v *gpu.Device) error { c.Int(int(v.DefaultStream().Handle())); return nil })},
	{Schema: "cuda_priority_range(int device) -> int[]", Doc: "The least and the greatest priority of streams.", Run: ofCUDADevice(cudaPriorityRange)},
	{Schema: "cuda_set_stream(int device, int stream) -> None", Doc: "Has the calling thread give work of a device on a stream.", Run: ofCUDAStream(func(_ *abi.Call, v *gpu.Device, s *gpu.Stream) error { v.SetStream(s); return nil })},
	{Schema: "cuda_stream_priority(int device, int stream) -> int", Doc: "The priority of a stream.", Run: ofCUDAStream(func(c *abi.Call, _ *gpu.Device, s *gpu.Stream) error { c.Int(s.Priority()); return nil })},
	{Schema: "cuda_stream_synchronize(int device, int stream) -> None", Doc: "Waits until a stream's work is done.", Run: ofCUDAStream(func(_ *abi.Call, _ *gpu.Device, s *gpu.Stream) error { return s.Synchronize() })},
	{Schema: "cuda_stream_done(int device, int stream) -> bool", Doc: "Whether a stream's work is done.", Run: ofCUDAStream(cudaStreamDone)},
	{Schema: "cuda_stream_wait(int device, int stream, any event) -> None", Doc: "Has what is given on a stream from now on be done behind a mark.", Run: ofCUDAStream(cudaStreamWait)},
	{Schema: "cuda_stream_capturing(int device, int stream) -> bool", Doc: "Whether a stream's work becomes a graph.", Run: ofCUDAStream(func(c *abi.Call, _ *gpu.Device, s *gpu.Stream) error { c.Bool(s.IsCapturing()); return nil })},
	{Schema: "cuda_record_stream(Tensor tensor, int stream) -> None", Doc: "Says that a stream uses a tensor's memory, which was allocated on another.", Run: cudaRecordStream},
	{Schema: "cuda_event(int device, int stream, bool timed, bool blocking) -> any", Doc: "Marks the end of what a stream was given to do so far.", Run: ofCUDAStream(cudaEvent)},
	{Schema: "cuda_event_done(any event) -> bool", Doc: "Whether a stream has come to a mark.", Run: ofCUDAEvent(func(c *abi.Call, e *gpu.Event) error {
		done, err := e.IsDone()
		c.Bool(done)
		return err
	})},
	{Schema: "cuda_event_synchronize(any event) -> None", Doc: "Waits until a stream has come to a mark.", Run: ofCUDAEvent(func(_ *abi.Call, e *gpu.Event) error { return e.Synchronize() })},
	{Schema: "cuda_event_elapsed(any event, any end) -> float", Doc: "The milliseconds between two marks.", Run: ofCUDAEvent(cudaEventElapsed)},
	{Schema: "cuda_graph(int device) -> any", Doc: "A graph of a device's work, without any.", Run: ofCUDADevice(func(c *abi.Call, v *gpu.Device) error {
		c.Handle(abi.HandleCapsule, &value.Capsule{Kind: "CUDA graph", Content: v.NewGraph()})
		return nil
	})},
	{Schema: "cuda_graph_pool(int device) -> any", Doc: "Memory for graphs of a device.", Run: ofCUDADevice(func(c *abi.Call, v *gpu.Device) error {
		c.Handle(abi.HandleCapsule, &value.Capsule{Kind: "memory of CUDA graphs", Content: v.NewGraphPool()})
		return nil
	})},
	{Schema: "cuda_graph_begin(any graph, any pool) -> None", Doc: "Has what the current stream is given from now on become a graph.", Run: ofCUDAGraph(cudaGraphBegin)},
	{Schema: "cuda_graph_end(any graph) -> int", Doc: "Ends what cuda_graph_begin began: of how many kernels the graph is made.", Run: ofCUDAGraph(cudaGraphEnd)},
	{Schema: "cuda_graph_replay(any graph) -> None", Doc: "Has the current stream do a graph's work.", Run: ofCUDAGraph(func(_ *abi.Call, g *gpu.Graph) error { return g.Replay() })},
	{Schema: "cuda_graph_reset(any graph) -> None", Doc: "Takes its work from a graph.", Run: ofCUDAGraph(func(_ *abi.Call, g *gpu.Graph) error { g.Reset(); return nil })},
	{Schema: "cuda_package_folders(list folders) -> None", Doc: "Says where packages of Python are: NVIDIA's have libraries.", Run: func(c *abi.Call) error { gpu.SetPackageFolders(c.ArgStrings(0)); c.None(); return nil }},
	{Schema: "cuda_setting(str name) -> bool", Doc: "What a program chose for CUDA's libraries.", Run: ofCUDASetting(func(c *abi.Call, s gpu.Setting) { c.Bool(s.IsSet()) })},
	{Schema: "cuda_set(str name, bool on) -> None", Doc: "Chooses something for CUDA's libraries.", Run: ofCUDASetting(func(c *abi.Call, s gpu.Setting) { s.Set(c.ArgBool(1)); c.None() })},
	{Schema: "cuda_dnn_version() -> int", Doc: "The version of cuDNN, 0 where it is not used.", Run: cudaDNNVersion},
	{Schema: "cuda_plans(int device) -> int[]", Doc: "How many plans of cuFFT a device keeps, and how many it may.", Run: ofCUDADevice(func(c *abi.Call, v *gpu.Device) error {
		kept, most := v.Plans()
		c.Ints(abi.KindList, []int{kept, most})
		return nil
	})},
	{Schema: "cuda_limit_plans(int device, int most) -> None", Doc: "Says how many plans of cuFFT a device may keep.", Run: ofCUDADevice(func(c *abi.Call, v *gpu.Device) error { return v.LimitPlans(c.ArgInt(1)) })},
	{Schema: "cuda_forget_plans(int device) -> None", Doc: "Gives the plans of cuFFT that a device keeps up.", Run: ofCUDADevice(func(_ *abi.Call, v *gpu.Device) error { v.ForgetPlans(); return nil })},
	{Schema: "cuda_reset_peak(int device) -> None", Doc: "Has the most that was used of a device count from now on.", Run: ofCUDADevice(func(_ *abi.Call, v *gpu.Device) error { v.ResetPeak(); return nil })},
}

// ofCUDADevice makes the run of a function whose first argument is the number of a device, that of the current one for -1.
func ofCUDADevice(run func(c *abi.Call, v *gpu.Device) error) func(c *abi.Call) error {
	return func(c *abi.Call) error {
		if err := abi.CheckCUDA(); err != nil {
			return err
		}
		v, err := gpu.Machine().Device(tensor.NewDevice(tensor.CUDA, c.ArgInt(0)))
		if err != nil {
			return err
		}
		return run(c, v)
	}
}

func cudaDeviceCount(c *abi.Call) error {
	all, err := gpu.Machine().Devices()
	if err != nil {
		all = nil // a program asks by this whether there are any
	}
	c.Int(len(all))
	return nil
}

func cudaCurrentDevice(c *abi.Call) error {
	if err := abi.CheckCUDA(); err != nil {
		return err
	}
	c.Int(gpu.Machine().Current())
	return nil
}

func cudaSetDevice(c *abi.Call) error {
	if err := abi.CheckCUDA(); err != nil {
		return err
	}
	return gpu.Machine().SetCurrent(c.ArgInt(0))
}

func cudaDeviceProperties(c *abi.Call, v *gpu.Device) error {
	_, total, err := v.MemoryInfo()
	if err != nil {
		return err
	}
	major, minor := v.Capability()
	c.Ints(abi.KindList, []int{major, minor, v.Units(), total})
	return nil
}

func cudaEmptyCache(*abi.Call) error {
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

func cudaMemory(c *abi.Call, v *gpu.Device) error {
	s := v.Statistics()
	c.Ints(abi.KindList, []int{s.Allocated, s.MostAllocated, s.Reserved, s.MostReserved})
	return nil
}

func cudaMemoryInfo(c *abi.Call, v *gpu.Device) error {
	free, total, err := v.MemoryInfo()
	if err != nil {
		return err
	}
	c.Ints(abi.KindList, []int{free, total})
	return nil
}

func cudaCounts(c *abi.Call, v *gpu.Device) error {
	n := v.Counts()
	c.Ints(abi.KindList, []int{n.Launches, n.GraphLaunches, n.Uploads, n.Downloads, n.Copies, n.Allocations})
	return nil
}

// ofCUDAStream makes the run of a function whose first arguments are the number of a device and the handle of a stream.
func ofCUDAStream(run func(c *abi.Call, v *gpu.Device, s *gpu.Stream) error) func(c *abi.Call) error {
	return ofCUDADevice(func(c *abi.Call, v *gpu.Device) error { return run(c, v, v.StreamOf(uintptr(c.ArgInt(1)))) })
}

func cudaStream(c *abi.Call, v *gpu.Device) error {
	s, err := v.NewStream(c.ArgInt(1))
	if err == nil {
		c.Int(int(s.Handle()))
	}
	return err
}

func cudaPriorityRange(c *abi.Call, v *gpu.Device) error {
	least, greatest, err := v.PriorityRange()
	c.Ints(abi.KindList, []int{least, greatest})
	return err
}

func cudaStreamDone(c *abi.Call, _ *gpu.Device, s *gpu.Stream) error {
	done, err := s.IsDone()
	c.Bool(done)
	return err
}

func cudaStreamWait(c *abi.Call, _ *gpu.Device, s *gpu.Stream) error {
	e, err := argEvent(c, 2)
	if err != nil {
		return err
	}
	return s.WaitFor(e)
}

func cudaRecordStream(c *abi.Call) error {
	t := c.ArgTensor(0)
	if !t.OnDevice() {
		return source.Errorf(source.RuntimeError, source.Range{}, "record_stream is for tensors on a CUDA device, not on %s", t.Device())
	}
	v, err := gpu.Machine().Device(t.Device())
	if err != nil {
		return err
	}
	v.RecordStream(t.Storage().Address(), v.StreamOf(uintptr(c.ArgInt(1))))
	return nil
}

// ofCUDAGraph makes the run of a function whose first argument is a graph.
func ofCUDAGraph(run func(c *abi.Call, g *gpu.Graph) error) func(c *abi.Call) error {
	return func(c *abi.Call) error {
		if held, ok := c.Arg(0).Content().(*value.Capsule); ok {
			if g, ok := held.Content.(*gpu.Graph); ok {
				return run(c, g)
			}
		}
		return abi.TypeErrorf("expected a graph of a CUDA device, not %s", c.Arg(0).KindName())
	}
}

func cudaGraphBegin(c *abi.Call, g *gpu.Graph) error {
	if held, ok := c.Arg(1).Content().(*value.Capsule); ok {
		if pool, ok := held.Content.(*gpu.GraphPool); ok {
			return g.Begin(pool)
		}
	}
	return abi.TypeErrorf("expected memory of CUDA graphs, as torch.cuda.graph_pool_handle() gives it, not %s", c.Arg(1).KindName())
}

func cudaGraphEnd(c *abi.Call, g *gpu.Graph) error {
	if err := g.End(); err != nil {
		return err
	}
	c.Int(g.Launches())
	return nil
}

// ofCUDASetting makes the run of a function whose first argument is the name of a setting.
func ofCUDASetting(run func(c *abi.Call, s gpu.Setting)) func(c *abi.Call) error {
	return func(c *abi.Call) error {
		s, ok := gpu.SettingOf(c.ArgText(0))
		if !ok {
			return abi.TypeErrorf("CUDA's libraries have no setting %q", c.ArgString(0))
		}
		run(c, s)
		return nil
	}
}

func cudaDNNVersion(c *abi.Call) error {
	version := 0
	if all, err := gpu.Machine().Devices(); err == nil && len(all) > 0 {
		if version, err = all[0].DNNVersion(); err != nil {
			version = 0
		}
	}
	c.Int(version)
	return nil
}

// eventKind is the kind of the capsules that hold events.
const eventKind = "CUDA event"

func cudaEvent(c *abi.Call, _ *gpu.Device, s *gpu.Stream) error {
	e, err := s.NewEvent(c.ArgBool(2), c.ArgBool(3))
	if err == nil {
		c.Handle(abi.HandleCapsule, &value.Capsule{Kind: eventKind, Content: e})
	}
	return err
}

// ofCUDAEvent makes the run of a function whose first argument is an event.
func ofCUDAEvent(run func(c *abi.Call, e *gpu.Event) error) func(c *abi.Call) error {
	return func(c *abi.Call) error {
		e, err := argEvent(c, 0)
		if err != nil {
			return err
		}
		return run(c, e)
	}
}

func argEvent(c *abi.Call, i int) (*gpu.Event, error) {
	if held, ok := c.Arg(i).Content().(*value.Capsule); ok {
		if e, ok := held.Content.(*gpu.Event); ok {
			return e, nil
		}
	}
	return nil, abi.TypeErrorf("expected an event of a CUDA device, not %s", c.Arg(i).KindName())
}

func cudaEventElapsed(c *abi.Call, e *gpu.Event) error {
	end, err := argEvent(c, 1)
	if err != nil {
		return err
	}
	passed, err := e.Until(end)
	c.Float(passed)
	return err
}
