// Counts the lines that match one of many patterns, as log classifiers do: a peer for run.py.
//   each_line PATTERNS LOG       PATTERNS: one regular expression per line
#include <re2/re2.h>
#include <re2/set.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  re2::RE2::Options options;
  options.set_case_sensitive(false);
  options.set_max_mem(256 << 20);
  re2::RE2::Set patterns(options, re2::RE2::UNANCHORED);
  std::string line;
  for (std::ifstream file(argv[1]); std::getline(file, line);) {
    if (patterns.Add(line, nullptr) < 0) return 2;
  }
  if (!patterns.Compile()) return 2;
  std::size_t count = 0;
  std::vector<int> matches;
  for (std::ifstream log(argv[2], std::ios::binary); std::getline(log, line);) count += patterns.Match(line, &matches);
  std::printf("%zu\n", count);
}
