// A place in an artifact: where a report stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "input/artifact.h"

namespace whyoom {

struct Where {
  Artifact artifact;
  std::uint64_t line = 0;
  std::uint64_t last_line = 0;
  std::uint64_t offset = 0;
};

// By path, member (as bytes) and offset; the lines only make the order total. Negative, 0 or positive.
int Order(const Where& a, const Where& b);

struct IsEarlier {
  bool operator()(const Where& a, const Where& b) const { return Order(a, b) < 0; }
};

// `name` itself where it takes at most `longest` bytes (64 or more), else its beginning and a digest of the whole: what
// is kept of hostile names is bounded, and different names stay different.
std::string BoundedName(const std::string& name, std::size_t longest);

// The same for a path or a member, with secrets masked: the longest that Linux opens stays whole.
std::string BoundedPath(const std::string& path);

}  // namespace whyoom
