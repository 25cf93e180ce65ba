// Reads a source to its end.
#pragma once

#include <string>

#include "input/byte_source.h"

// Reads at most `capacity` bytes at a time.
inline std::string ReadAll(whyoom::ByteSource& source, std::size_t capacity = 4096) {
  std::string all;
  std::string buffer(capacity, '\0');
  while (const std::size_t got = source.Read(buffer.data(), buffer.size())) all.append(buffer, 0, got);
  return all;
}
