package main

// What a server has, by its own listing and bytes.

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"sort"
)

// get fails unless the answer is a success. The caller closes its body.
func get(method, at, path, query string) *http.Response {
	r, err := http.NewRequest(method, at+encode(path, true)+query, nil)
	if err != nil {
		log.Fatal(err)
	}
	sign(r)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		log.Fatalf("%s %s: %s: %s", method, path, answer.Status, text)
	}
	return answer
}

type page struct {
	Contents              []struct{ Key string }
	NextContinuationToken string
}

func keysOf(at, bucket string) (keys []string) {
	token := ""
	for {
		var p page
		query := "?list-type=2"
		if token != "" {
			query += "&continuation-token=" + url.QueryEscape(token)
		}
		answer := get(http.MethodGet, at, "/"+bucket, query)
		if err := xml.NewDecoder(answer.Body).Decode(&p); err != nil {
			log.Fatal(err)
		}
		answer.Body.Close()
		for _, c := range p.Contents {
			keys = append(keys, c.Key)
		}
		if token = p.NextContinuationToken; token == "" {
			return keys
		}
	}
}

func list(at, bucket string) {
	keys := keysOf(at, bucket)
	sort.Strings(keys)
	for _, key := range keys {
		answer := get(http.MethodGet, at, "/"+bucket+"/"+key, "")
		sum := sha256.New()
		if _, err := io.Copy(sum, answer.Body); err != nil {
			log.Fatal(err)
		}
		answer.Body.Close()
		fmt.Println(hex.EncodeToString(sum.Sum(nil)), key)
	}
}

func head(at, bucket, key string) {
	answer := get(http.MethodHead, at, "/"+bucket+"/"+key, "")
	answer.Body.Close()
	for name, values := range answer.Header {
		for _, value := range values {
			fmt.Printf("%s: %s\n", name, value)
		}
	}
}
