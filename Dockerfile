# An image of one static program: docker build -t gojit . && docker run -p 8000:8000 -v "$PWD/models:/models:ro" gojit
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY gojit gojit
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags='-s -w' -o /gojit ./gojit/cmd/gojit

FROM scratch
COPY --from=build /gojit /gojit
COPY LICENSE /LICENSE
COPY licenses /licenses
USER 65534:65534
EXPOSE 8000
ENTRYPOINT ["/gojit"]
CMD ["serve", "/models", "--address", "0.0.0.0:8000"]
