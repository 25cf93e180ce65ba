// Packs bytes for tests, and collects what Members returns.
#pragma once

#include <string>
#include <vector>

#include "input/limits.h"

namespace whyoom {

struct PackedFile {
  std::string name;  // a folder if it ends in "/"
  std::string bytes;
};

// `filter` is libarchive's name: "gzip", "zstd", "xz", "bzip2", "lz4".
std::string Compress(const std::string& filter, const std::string& bytes);

// `format` is libarchive's name: "ustar", "zip", …; `options` likewise ("zip:encryption=zipcrypt").
std::string Archive(const std::string& format, const std::vector<PackedFile>& files, const std::string& options = "");

struct Piece {
  std::string member;
  std::string text;
  bool operator==(const Piece&) const = default;
};

struct ReadBack {
  std::vector<Piece> pieces;
  std::vector<std::string> problems;  // "member: what"
  bool may_differ = false;            // in another run
};

// Reads like from a pipe that returns at most `chunk` bytes at a time.
ReadBack Unpack(const std::string& bytes, const Limits& limits = {}, std::size_t chunk = std::string::npos);

// Reads from a file.
ReadBack UnpackFile(const std::string& path, const Limits& limits = {});

// Returns "member: text" of each piece, because Catch cannot print pieces.
std::vector<std::string> Lines(const ReadBack& read);

}  // namespace whyoom
