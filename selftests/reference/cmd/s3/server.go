package main

// The server: objects in memory, each stored at most once. It is strict where servers differ: a PUT
// needs a signed checksum of its body, and never replaces an object.

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
)

type object struct {
	data     []byte
	checksum string // Base64
	metadata http.Header
}

type server struct {
	lock    sync.Mutex
	dir     string // objects outlive the process here
	objects map[string]*object
}

func newServer(dir string) http.Handler {
	return &server{dir: dir, objects: map[string]*object{}}
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>the test server refuses this: %s</Message></Error>", code, code)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	code := wrongSignature(r, os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"),
		os.Getenv("AWS_SESSION_TOKEN"))
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case code != "":
		refuse(w, http.StatusForbidden, code)
	case !isFolder(filepath.Join(s.dir, bucket)):
		refuse(w, http.StatusNotFound, "NoSuchBucket")
	case r.Method == http.MethodPut:
		s.put(w, r, bucket, key)
	case key != "":
		s.get(w, r, bucket, key)
	default:
		s.list(w, bucket)
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (s *server) put(w http.ResponseWriter, r *http.Request, bucket, key string) {
	data, err := io.ReadAll(r.Body)
	sum := sha256.Sum256(data)
	checksum := base64.StdEncoding.EncodeToString(sum[:])
	switch {
	case err != nil || int64(len(data)) != r.ContentLength:
		refuse(w, http.StatusBadRequest, "IncompleteBody")
	case r.Header.Get("X-Amz-Content-Sha256") != hash(data):
		refuse(w, http.StatusBadRequest, "XAmzContentSHA256Mismatch")
	case r.Header.Get("X-Amz-Checksum-Sha256") != checksum:
		refuse(w, http.StatusBadRequest, "BadDigest")
	case r.Header.Get("If-None-Match") != "*":
		refuse(w, http.StatusBadRequest, "InvalidRequest")
	case !s.store(bucket, key, &object{data, checksum, r.Header}):
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
	default:
		w.Header().Set("X-Amz-Checksum-Sha256", checksum)
	}
}

// store returns false if there is an object already.
func (s *server) store(bucket, key string, o *object) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.objects[bucket+"/"+key] != nil {
		return false
	}
	s.objects[bucket+"/"+key] = o
	return true
}

func (s *server) get(w http.ResponseWriter, r *http.Request, bucket, key string) {
	s.lock.Lock()
	o := s.objects[bucket+"/"+key]
	s.lock.Unlock()
	if o == nil {
		refuse(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	for name, values := range o.metadata {
		if strings.HasPrefix(name, "X-Amz-Meta-") {
			w.Header()[name] = values
		}
	}
	w.Header().Set("X-Amz-Checksum-Sha256", o.checksum)
	w.Header().Set("Content-Length", fmt.Sprint(len(o.data)))
	w.Write(o.data)
}

func (s *server) list(w http.ResponseWriter, bucket string) {
	var keys []string
	s.lock.Lock()
	for name := range s.objects {
		if key, ok := strings.CutPrefix(name, bucket+"/"); ok {
			keys = append(keys, key)
		}
	}
	s.lock.Unlock()
	sort.Strings(keys)
	fmt.Fprint(w, "<ListBucketResult>")
	for _, key := range keys {
		fmt.Fprintf(w, "<Contents><Key>%s</Key></Contents>", key)
	}
	fmt.Fprint(w, "</ListBucketResult>")
}
