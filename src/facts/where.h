// A place in an artifact, and paths of source files.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "input/artifact.h"

namespace whyoom {

struct Where {
  Artifact artifact;
  std::uint64_t line = 0;
  std::uint64_t last_line = 0;
  std::uint64_t offset = 0;

  // By path and member (as bytes), then offset; the lines make the order total.
  friend std::strong_ordering operator<=>(const Where& a, const Where& b) {
    const auto key = [](const Where& where) {
      return std::tie(where.artifact.path, where.artifact.member, where.offset, where.line, where.last_line);
    };
    return key(a) <=> key(b);
  }
};

// Masks secrets in a path or a member's name and bounds its length; no path that Linux can open is shortened.
std::string BoundedPath(const std::string& path);

void MaskSecretsOf(std::vector<Problem>* problems);

// Whether `path` is library code: an installed package (site-packages, dist-packages), Python's own library, or the
// source folders in vLLM's container images. Also true for code without a file ("<frozen runpy>", "<string>").
bool IsLibraryPath(std::string_view path);

// The last part of `path`.
std::string BaseName(std::string_view path);

// A short form of a source line: "train.py:41", or "Cell In[5], line 3" for a notebook cell, as IPython names it.
// Without a line number, only the file.
std::string SourceLineText(std::string_view path, const std::optional<std::int64_t>& line);

}  // namespace whyoom
