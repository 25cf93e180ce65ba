// Compares texts with recorded files of the repository. WHYOOM_BLESS=1 writes the files.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "catch.h"
#include "process.h"

// The first few lines that differ, as "line 7: recorded …, now …"; empty if the texts are equal.
inline std::string FirstDifferences(const std::string& recorded, const std::string& now) {
  if (recorded == now) return "";
  std::istringstream recorded_lines(recorded);
  std::istringstream now_lines(now);
  std::string differences;
  int shown = 0;
  for (int line = 1; shown < 5; ++line) {
    std::string before;
    std::string after;
    const bool has_before = static_cast<bool>(std::getline(recorded_lines, before));
    const bool has_after = static_cast<bool>(std::getline(now_lines, after));
    if (!has_before && !has_after) break;
    if (has_before && has_after && before == after) continue;
    differences += fmt::format("line {}:\n  recorded {}\n  now      {}\n", line,
                               has_before ? "\"" + before + "\"" : "no more lines",
                               has_after ? "\"" + after + "\"" : "no more lines");
    ++shown;
  }
  return shown == 0 ? "only the last line break differs\n" : differences;
}

// Checks that the file contains `text`. A failure prints the lines that differ and the command that records them.
inline void CheckRecorded(const std::string& path, const std::string& text) {
  if (std::getenv("WHYOOM_BLESS") != nullptr) std::ofstream(path, std::ios::binary) << text;
  const std::string differences = FirstDifferences(ReadText(path), text);
  if (differences.empty()) {
    SUCCEED();
    return;
  }
  const std::string test = Catch::getResultCapture().getCurrentTestName();
  FAIL_CHECK(path << " differs:\n"
                  << differences << "If the change is intended: WHYOOM_BLESS=1 build/release/tests/whyoom_tests \""
                  << test << "\" && git diff " << path);
}
