// Texts that are recorded in files of the repository, which WHYOOM_BLESS=1 writes anew.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

#include "catch.h"
#include "process.h"

// Checks that the file holds the text.
inline void CheckRecorded(const std::string& path, const std::string& text) {
  INFO(path);
  if (std::getenv("WHYOOM_BLESS") != nullptr) std::ofstream(path, std::ios::binary) << text;
  CHECK(text == ReadText(path));
}
