// Serve_load loads a server of `gojit serve` with requests of which some are malformed, and reports what came back.
//
//	go run ./benchmarks/serve_load -url http://127.0.0.1:8000 -model digits -shape 1x1x12x12 -seconds 120 -connections 16
//
// Every answer is checked: a good request must give what the first one gave, a malformed one a status of 4xx with a reason. Send the server SIGTERM
// while it runs, with -stopping: no request that was accepted may then be lost.
package main

import (
	"bytes"
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
	stopping    = flag.Bool("stopping", false, "the server is told to stop meanwhile: refused connections are no errors")
)

// outcome is what one connection saw.
type outcome struct {
	good, bad, wrong, refused int
	times                     []time.Duration
	first                     string // what was wrong first
}

func main() {
	flag.Parse()
	body := goodBody()
	want, err := answerTo(http.DefaultClient, body)
	if err != nil {
		log.Fatal(err)
	}
	before := metric("process_resident_memory_bytes")
	outcomes := make([]outcome, *connections)
	begin := time.Now()
	end := begin.Add(time.Duration(*seconds * float64(time.Second)))
	var all sync.WaitGroup
	for i := range outcomes {
		all.Go(func() { outcomes[i].load(body, want, end) })
	}
	all.Wait()
	report(outcomes, time.Since(begin), before)
}

// goodBody is a request with numbers of the shape.
func goodBody() []byte {
	count := 1
	var sizes []int
	for _, text := range strings.Split(*shape, "x") {
		n, err := strconv.Atoi(text)
		if err != nil {
			log.Fatalf("-shape %q: expected sizes joined by x", *shape)
		}
		sizes = append(sizes, n)
		count *= n
	}
	data := make([]float32, count)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = float32(random.NormFloat64())
	}
	body, err := json.Marshal(map[string]any{"inputs": []any{map[string]any{"name": *input, "datatype": "FP32", "shape": sizes, "data": data}}})
	if err != nil {
		log.Fatal(err)
	}
	return body
}

// answerTo returns the outputs that a good request gets.
func answerTo(client *http.Client, body []byte) ([]float64, error) {
	resp, err := client.Post(*url+"/v2/models/"+*model+"/infer", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d: %s", resp.StatusCode, text)
	}
	var a struct {
		Outputs []struct{ Data []float64 }
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, err
	}
	var numbers []float64
	for _, o := range a.Outputs {
		numbers = append(numbers, o.Data...)
	}
	return numbers, nil
}

// load makes requests one after another.
func (o *outcome) load(body []byte, want []float64, end time.Time) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
	for time.Now().Before(end) {
		begin := time.Now()
		if rand.Float64() < *malformed {
			o.note(sendMalformed(client, body), &o.bad)
			continue
		}
		got, err := answerTo(client, body)
		if err == nil && !slices.EqualFunc(got, want, near) {
			err = fmt.Errorf("another answer than before: %v, then %v", want, got)
		}
		o.note(err, &o.good)
		o.times = append(o.times, time.Since(begin))
	}
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
func sendMalformed(client *http.Client, body []byte) error {
	mistakes := [][]byte{
		[]byte("{"), body[:len(body)/2], bytes.Replace(body, []byte("FP32"), []byte("FP31"), 1), bytes.Replace(body, []byte(`"shape":[`), []byte(`"shape":[7,`), 1),
		bytes.Replace(body, []byte(`"name":"`+*input), []byte(`"name":"other`), 1), []byte(`{"inputs":[]}`),
	}
	resp, err := client.Post(*url+"/v2/models/"+*model+"/infer", "application/json", bytes.NewReader(mistakes[rand.IntN(len(mistakes))]))
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

func report(outcomes []outcome, took time.Duration, before float64) {
	var sum outcome
	for _, o := range outcomes {
		sum.good, sum.bad, sum.wrong, sum.refused = sum.good+o.good, sum.bad+o.bad, sum.wrong+o.wrong, sum.refused+o.refused
		sum.times = append(sum.times, o.times...)
		if sum.first == "" {
			sum.first = o.first
		}
	}
	slices.Sort(sum.times)
	fmt.Printf("%d good answers (%.0f per second), %d malformed requests refused with a reason, %d wrong, %d refused while stopping\n",
		sum.good, float64(sum.good)/took.Seconds(), sum.bad, sum.wrong, sum.refused)
	if n := len(sum.times); n > 0 {
		fmt.Printf("p50 %v, p99 %v, most %v\n", sum.times[n/2], sum.times[n*99/100], sum.times[n-1])
	}
	if after := metric("process_resident_memory_bytes"); after > 0 {
		fmt.Printf("resident memory of the server: %.1f MB before, %.1f MB after\n", before/1e6, after/1e6)
	}
	if sum.wrong > 0 {
		fmt.Println("the first that was wrong:", sum.first)
		os.Exit(1)
	}
}
