// Serve_load loads a server of `gojit serve` with requests of which some are malformed, and reports what came back.
//
//	go run ./benchmarks/serve_load -url http://127.0.0.1:8000 -model digits -shape 1x1x12x12 -seconds 120 -connections 16
//
// Every answer is checked: a good request must give what the first one gave, a malformed one a status of 4xx with a reason. Send the server SIGTERM
// while it runs, with -stopping: no request that was accepted may then be lost.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	url         = flag.String("url", "http://127.0.0.1:8000", "where the server is")
	model       = flag.String("model", "", "the model")
	input       = flag.String("input", "x", "the input")
	shape       = flag.String("shape", "", "the shape of the input, as 1x512")
	seconds     = flag.Float64("seconds", 10, "how long to go on")
	connections = flag.Int("connections", 16, "requests at a time")
	malformed   = flag.Float64("malformed", 0.1, "the share of requests with a mistake")
	binaryForm  = flag.Bool("binary", false, "numbers are sent and come back as they lie in memory, and not in JSON")
	stopping    = flag.Bool("stopping", false, "the server is told to stop meanwhile: refused connections are no errors")
)

// jsonLength is the header that says how much of a body is JSON. Elements of tensors follow.
const jsonLength = "Inference-Header-Content-Length"

// outcome is what one connection saw.
type outcome struct {
	good, bad, wrong, refused int
	times                     []time.Duration
	first                     string // what was wrong first
	right                     []byte // the last answer that was read and found right
}

func main() {
	flag.Parse()
	memory, processor := metric("process_resident_memory_bytes"), metric("process_cpu_seconds_total")
	begin := time.Now()
	sum, err := loadAll()
	if err != nil {
		log.Fatal(err)
	}
	sum.report(time.Since(begin), memory, processor)
	if sum.wrong > 0 {
		os.Exit(1)
	}
}

// loadAll loads the server from all connections and returns what they saw together.
func loadAll() (outcome, error) {
	body, head, err := goodBody()
	if err != nil {
		return outcome{}, err
	}
	first, err := answerTo(http.DefaultClient, body, head)
	if err != nil {
		return outcome{}, err
	}
	want, err := first.outputs()
	if err != nil {
		return outcome{}, err
	}
	outcomes := make([]outcome, *connections)
	end := time.Now().Add(time.Duration(*seconds * float64(time.Second)))
	var all sync.WaitGroup
	for i := range outcomes {
		all.Go(func() { outcomes[i].load(body, head, want, end) })
	}
	all.Wait()
	return together(outcomes), nil
}

// goodBody is a request with numbers of the shape. head is how many bytes of it are JSON.
func goodBody() (body []byte, head int, err error) {
	count := 1
	var sizes []int
	for text := range strings.SplitSeq(*shape, "x") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, 0, fmt.Errorf("-shape %q: expected sizes joined by x", *shape)
		}
		sizes = append(sizes, n)
		count *= n
	}
	data := make([]float32, count)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = float32(random.NormFloat64())
	}
	tensor := map[string]any{"name": *input, "datatype": "FP32", "shape": sizes, "data": data}
	var elements []byte
	if *binaryForm {
		elements, _ = binary.Append(nil, binary.LittleEndian, data)
		delete(tensor, "data")
		tensor["parameters"] = map[string]any{"binary_data_size": len(elements)}
	}
	form := map[string]any{"binary_data_output": *binaryForm}
	body, err = json.Marshal(map[string]any{"inputs": []any{tensor}, "parameters": form})
	return append(body, elements...), len(body), err
}

// post sends a request to the model.
func post(client *http.Client, body []byte, head int) (*http.Response, error) {
	r, err := http.NewRequest(http.MethodPost, *url+"/v2/models/"+*model+"/infer", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if head < len(body) {
		r.Header.Set(jsonLength, strconv.Itoa(head))
	}
	return client.Do(r)
}

// answer is the body of an answer, and how many bytes of it are JSON.
type answer struct {
	text []byte
	head int
}

// answerTo returns what a good request gets.
func answerTo(client *http.Client, body []byte, head int) (answer, error) {
	resp, err := post(client, body, head)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err
	}
	if resp.StatusCode != http.StatusOK {
		return answer{}, fmt.Errorf("status %d: %s", resp.StatusCode, text)
	}
	if n, err := strconv.Atoi(resp.Header.Get(jsonLength)); err == nil && n <= len(text) {
		return answer{text, n}, nil
	}
	return answer{text, len(text)}, nil
}

// outputs returns the numbers of all outputs of an answer.
func (a answer) outputs() ([]float64, error) {
	if text, n := a.text, a.head; n < len(text) {
		numbers := make([]float32, (len(text)-n)/4)
		_, err := binary.Decode(text[n:], binary.LittleEndian, numbers)
		return wide(numbers), err
	}
	var in struct {
		Outputs []struct{ Data []float64 }
	}
	if err := json.Unmarshal(a.text, &in); err != nil {
		return nil, err
	}
	var numbers []float64
	for _, o := range in.Outputs {
		numbers = append(numbers, o.Data...)
	}
	return numbers, nil
}

func wide(numbers []float32) []float64 {
	wider := make([]float64, len(numbers))
	for i, f := range numbers {
		wider[i] = float64(f)
	}
	return wider
}

// load makes requests one after another.
func (o *outcome) load(body []byte, head int, want []float64, end time.Time) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
	for time.Now().Before(end) {
		begin := time.Now()
		if rand.Float64() < *malformed {
			o.note(sendMalformed(client, body, head), &o.bad)
			continue
		}
		got, err := answerTo(client, body, head)
		took := time.Since(begin)
		if err == nil {
			err = o.check(got, want)
		}
		o.note(err, &o.good)
		o.times = append(o.times, took)
	}
}

// check compares an answer with what the first one gave. One that has the bytes of an answer that was right is not read again, which takes longer than the
// server does for it.
func (o *outcome) check(a answer, want []float64) error {
	if bytes.Equal(a.text, o.right) {
		return nil
	}
	got, err := a.outputs()
	if err != nil {
		return err
	}
	if !slices.EqualFunc(got, want, near) {
		return fmt.Errorf("another answer than before: %v, then %v", want, got)
	}
	o.right = a.text
	return nil
}

// near allows for another order of sums in batches of other sizes.
func near(a, b float64) bool { return max(a-b, b-a) <= 1e-4*max(1, a, -a) }

func (o *outcome) note(err error, right *int) {
	switch {
	case err == nil:
		*right++
	case *stopping && (strings.Contains(err.Error(), "connection re") || strings.Contains(err.Error(), "EOF") || strings.Contains(err.Error(), "status 503")):
		o.refused++
	default:
		o.wrong++
		if o.first == "" {
			o.first = err.Error()
		}
	}
}

// sendMalformed sends a request with a mistake, which must be answered with 4xx and a reason.
func sendMalformed(client *http.Client, body []byte, head int) error {
	replaced := func(old, by string) []byte { return bytes.Replace(body, []byte(old), []byte(by), 1) }
	mistakes := [][]byte{
		[]byte("{"), body[:head/2], replaced("FP32", "FP31"), replaced(`"shape":[`, `"shape":[7,`), replaced(`"name":"`+*input, `"name":"other`), []byte(`{"inputs":[]}`),
	}
	mistake := mistakes[rand.IntN(len(mistakes))]
	resp, err := post(client, mistake, max(0, len(mistake)-(len(body)-head)))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var a struct{ Error string }
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		return err
	}
	if resp.StatusCode/100 != 4 || a.Error == "" {
		return fmt.Errorf("a malformed request got status %d and the reason %q", resp.StatusCode, a.Error)
	}
	return nil
}

// metric reads a metric of the server, 0 where it has none.
func metric(name string) float64 {
	resp, err := http.Get(*url + "/metrics")
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			value, _ := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			return value
		}
	}
	return 0
}

// together adds up what connections saw.
func together(outcomes []outcome) outcome {
	var sum outcome
	for _, o := range outcomes {
		sum.good, sum.bad, sum.wrong, sum.refused = sum.good+o.good, sum.bad+o.bad, sum.wrong+o.wrong, sum.refused+o.refused
		sum.times = append(sum.times, o.times...)
		if sum.first == "" {
			sum.first = o.first
		}
	}
	slices.Sort(sum.times)
	return sum
}

// report prints what connections saw, and what memory and processor time the server has, which had some at the beginning.
func (o outcome) report(took time.Duration, memory, processor float64) {
	fmt.Printf("%d good answers (%.0f per second), %d malformed requests refused with a reason, %d wrong, %d refused while stopping\n",
		o.good, float64(o.good)/took.Seconds(), o.bad, o.wrong, o.refused)
	if n := len(o.times); n > 0 {
		fmt.Printf("p50 %v, p99 %v, most %v\n", o.times[n/2], o.times[n*99/100], o.times[n-1])
	}
	if after := metric("process_resident_memory_bytes"); after > 0 {
		fmt.Printf("resident memory of the server: %.1f MB before, %.1f MB after\n", memory/1e6, after/1e6)
		fmt.Printf("processor time of the server: %.1f us per request\n", 1e6*(metric("process_cpu_seconds_total")-processor)/float64(max(1, o.good+o.bad)))
	}
	if o.wrong > 0 {
		fmt.Println("the first that was wrong:", o.first)
	}
}
