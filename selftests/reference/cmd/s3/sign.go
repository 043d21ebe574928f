package main

// Signatures of AWS, version 4, by their specification: "Create a signed AWS API request".

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"sort"
	"strings"
	"time"
)

const (
	algorithm = "AWS4-HMAC-SHA256"
	nothing   = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// encode is the URI encoding of the specification.
func encode(text string, slashes bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.IndexByte("-_.~", c) >= 0 || c == '/' && slashes {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func canonicalQuery(r *http.Request) string {
	var parts []string
	for name, values := range r.URL.Query() {
		for _, value := range values {
			parts = append(parts, encode(name, false)+"="+encode(value, false))
		}
	}
	sort.Strings(parts)
	return strings.Join(parts, "&")
}

func headerValue(r *http.Request, name string) string {
	if name == "host" {
		return r.Host
	}
	if name == "content-length" && r.Header.Get(name) == "" {
		return fmt.Sprint(r.ContentLength)
	}
	return strings.Join(strings.Fields(strings.Join(r.Header.Values(name), ",")), " ")
}

// signature returns that of the request, whose headers `names` are signed, sorted.
func signature(r *http.Request, names []string, date, region, secret string) string {
	var headers strings.Builder
	for _, name := range names {
		headers.WriteString(name + ":" + headerValue(r, name) + "\n")
	}
	canonical := strings.Join([]string{r.Method, encode(r.URL.Path, true), canonicalQuery(r),
		headers.String(), strings.Join(names, ";"), r.Header.Get("X-Amz-Content-Sha256")}, "\n")
	scope := date[:8] + "/" + region + "/s3/aws4_request"
	key := mac(mac(mac(mac([]byte("AWS4"+secret), date[:8]), region), "s3"), "aws4_request")
	return hex.EncodeToString(mac(key, strings.Join([]string{algorithm, date, scope,
		hash([]byte(canonical))}, "\n")))
}

// wrongSignature returns the code of an error, or "".
func wrongSignature(r *http.Request, id, secret, token string) string {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), algorithm+" ")
	fields := map[string]string{}
	for _, part := range strings.Split(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	credential := strings.Split(fields["Credential"], "/")
	if !ok || len(credential) != 5 {
		return "AuthorizationHeaderMalformed"
	}
	date := r.Header.Get("X-Amz-Date")
	when, err := time.Parse("20060102T150405Z", date)
	if err != nil || credential[1] != date[:8] {
		return "AuthorizationHeaderMalformed"
	}
	if age := time.Since(when).Abs(); age > 15*time.Minute {
		return "RequestTimeTooSkewed"
	}
	if credential[0] != id || r.Header.Get("X-Amz-Security-Token") != token {
		return "InvalidAccessKeyId"
	}
	names := strings.Split(fields["SignedHeaders"], ";")
	for name := range r.Header { // those that change what the request means must be signed
		name = strings.ToLower(name)
		if (strings.HasPrefix(name, "x-amz-") || name == "if-none-match") && !contains(names, name) {
			return "AccessDenied"
		}
	}
	if !contains(names, "host") || !sort.StringsAreSorted(names) ||
		signature(r, names, date, credential[2], secret) != fields["Signature"] {
		return "SignatureDoesNotMatch"
	}
	return ""
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// sign makes a request without a body one that a server accepts.
func sign(r *http.Request) {
	date := time.Now().UTC().Format("20060102T150405Z")
	names := []string{"host", "x-amz-checksum-mode", "x-amz-content-sha256", "x-amz-date"}
	r.Header.Set("X-Amz-Date", date)
	r.Header.Set("X-Amz-Content-Sha256", nothing)
	r.Header.Set("X-Amz-Checksum-Mode", "ENABLED")
	r.Header.Set("Authorization", fmt.Sprintf(
		"%s Credential=%s/%s/us-east-1/s3/aws4_request, SignedHeaders=%s, Signature=%s", algorithm,
		os.Getenv("AWS_ACCESS_KEY_ID"), date[:8], strings.Join(names, ";"),
		signature(r, names, date, "us-east-1", os.Getenv("AWS_SECRET_ACCESS_KEY"))))
}
