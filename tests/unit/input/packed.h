// Packs bytes for tests, and reads back what ReadMembers makes of them.
#pragma once

#include <string>
#include <vector>

#include "input/limits.h"

namespace whyoom {

struct PackedFile {
  std::string name;  // one that ends in "/" is a folder
  std::string bytes;
};

// `filter` as libarchive names it: "gzip", "zstd", "xz", "bzip2", "lz4".
std::string Compress(const std::string& filter, const std::string& bytes);

// `format` as libarchive names it: "ustar", "zip", …; `options` likewise ("zip:encryption=zipcrypt").
std::string Archive(const std::string& format, const std::vector<PackedFile>& files, const std::string& options = "");

struct Piece {
  std::string member;
  std::string text;
  bool operator==(const Piece&) const = default;
};

struct ReadBack {
  std::vector<Piece> pieces;
  std::vector<std::string> problems;  // "member: what"
  bool may_differ = false;            // another time
};

// As from a pipe that gives at most `chunk` bytes at a time.
ReadBack Unpack(const std::string& bytes, const Limits& limits = {}, std::size_t chunk = std::string::npos);

// The same for a file.
ReadBack UnpackFile(const std::string& path, const Limits& limits = {});

// Catch has no printer for pieces.
std::vector<std::string> Lines(const ReadBack& read);  // "member: text" of each

}  // namespace whyoom
