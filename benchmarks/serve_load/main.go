// Serve_load loads a server of `gojit serve` with requests of which some are malformed, and reports what came back.
//
//	go run ./benchmarks/serve_load -url http://127.0.0.1:8000 -model digits -shape 1x1x12x12 -seconds 120 -connections 16
//
// Every answer is checked: a good request must give what the first one gave, a malformed one a status of 4xx with a reason. Send the server SIGTERM
// while it runs, with -stopping: no request that was accepted may then be lost.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
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
	c := &connection{}
	defer c.close()
	first, err := c.answerTo(body, head)
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

// answer is what a request got: its status, its body, and how many bytes of that are JSON.
type answer struct {
	status int
	text   []byte
	head   int
}

// connection is a connection to the server, made when it is used first, and again when it broke. It writes requests as they are and reads what answers
// must have: a client that can do more takes more of the processors than the server does.
type connection struct {
	conn   net.Conn
	reader *bufio.Reader
}

// post sends a request to the model, whose first bytes are JSON, and returns its answer.
func (c *connection) post(body []byte, head int) (answer, error) {
	if c.conn == nil {
		conn, err := net.Dial("tcp", strings.TrimPrefix(*url, "http://"))
		if err != nil {
			return answer{}, err
		}
		c.conn, c.reader = conn, bufio.NewReaderSize(conn, 1<<14)
	}
	a, last, err := c.exchange(body, head)
	if err != nil || last {
		c.close()
	}
	return a, err
}

func (c *connection) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// exchange writes a request and reads the answer. last says that the server ends the connection.
func (c *connection) exchange(body []byte, head int) (a answer, last bool, err error) {
	length := ""
	if head < len(body) {
		length = fmt.Sprintf("%s: %d\r\n", jsonLength, head)
	}
	request := fmt.Appendf(nil, "POST /v2/models/%s/infer HTTP/1.1\r\nHost: load\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n", *model, length, len(body))
	if _, err := c.conn.Write(append(request, body...)); err != nil {
		return a, false, err
	}
	resp, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return a, false, err
	}
	defer resp.Body.Close()
	if resp.ContentLength < 0 {
		return a, false, errors.New("the answer does not say how long it is")
	}
	a = answer{resp.StatusCode, make([]byte, resp.ContentLength), int(resp.ContentLength)}
	if n, err := io.ReadFull(resp.Body, a.text); err != nil {
		return a, false, fmt.Errorf("the answer of %d bytes is cut off behind %d", len(a.text), n)
	}
	if n, err := strconv.Atoi(resp.Header.Get(jsonLength)); err == nil && n <= len(a.text) {
		a.head = n
	}
	return a, resp.Close, nil
}

// answerTo returns what a good request gets.
func (c *connection) answerTo(body []byte, head int) (answer, error) {
	a, err := c.post(body, head)
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("status %d: %s", a.status, a.text)
	}
	return a, err
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
	c := &connection{}
	defer c.close()
	for time.Now().Before(end) {
		begin := time.Now()
		if rand.Float64() < *malformed {
			o.note(c.sendMalformed(body, head), &o.bad)
			continue
		}
		got, err := c.answerTo(body, head)
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
	case *stopping && (strings.Contains(err.Error(), "connection re") || strings.Contains(err.Error(), "EOF") || strings.Contains(err.Error(), "broken pipe") || strings.Contains(err.Error(), "status 503")):
		o.refused++
	default:
		o.wrong++
		if o.first == "" {
			o.first = err.Error()
		}
	}
}

// sendMalformed sends a request with a mistake, which must be answered with 4xx and a reason.
func (c *connection) sendMalformed(body []byte, head int) error {
	replaced := func(old, by string) []byte { return bytes.Replace(body, []byte(old), []byte(by), 1) }
	mistakes := [][]byte{
		[]byte("{"), body[:head/2], replaced("FP32", "FP31"), replaced(`"shape":[`, `"shape":[7,`), replaced(`"name":"`+*input, `"name":"other`), []byte(`{"inputs":[]}`),
	}
	mistake := mistakes[rand.IntN(len(mistakes))]
	got, err := c.post(mistake, max(0, len(mistake)-(len(body)-head)))
	if err != nil {
		return err
	}
	var a struct{ Error string }
	if err := json.Unmarshal(got.text, &a); err != nil {
		return err
	}
	if got.status/100 != 4 || a.Error == "" {
		return fmt.Errorf("a malformed request got status %d and the reason %q", got.status, a.Error)
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
