// Writes reports and messages to files and the standard streams.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "cli/options.h"
#include "diagnose/report.h"
#include "report/printers.h"

namespace whyoom {

// Opens /dev/null for standard streams that are closed, so that no file opened later gets their numbers. Call first.
void ReserveStandardStreams();

// Whether the options ask for progress on standard error. --quiet hides it unless --progress was given.
bool ShowsProgress(const Options& options);

// Text style for a file or for `descriptor`. Columns: 80 in a file, else COLUMNS or those of the terminal (80 without
// one), from 40 to 120. Rows: LINES or those of the terminal; 0 without one. Color with `auto`: no, if NO_COLOR (not
// empty) is set or the text goes to a file; yes, if CLICOLOR_FORCE or FORCE_COLOR (not empty, not "0") is set; else on
// a terminal without TERM=dumb.
TextOptions StyleOf(const Options& options, bool to_file, int descriptor = 1);

// Writes all of `text`, also if write() accepts only parts of it. Returns 0 or an errno.
int WriteAll(int descriptor, std::string_view text);

// Writes `text` to the file, completely or not at all. A link, a device, and a file with another name or owner are
// written in place, and may contain a part of the text after an error; the streams /dev/stdout and /dev/stderr are not
// truncated. Throws Error if the file cannot be written.
void WriteFile(std::string_view text, const std::string& path);

// Writes `text` to the file `path`, or to `descriptor` if `path` is empty. Returns false if the reader closed the pipe.
// Throws Error on other failures.
bool WriteOutput(std::string_view text, const std::string& path, int descriptor = 1);

// Writes a message, which may quote arguments, file names and log lines, to standard error.
void WriteError(std::string_view text);

// `text`: style of the text format; its detail also applies to JSON.
std::string PrintReport(const Report& report, Format format, const TextOptions& text, const std::string& source_root);

using PrintFunction = std::function<std::string(Format, const TextOptions&)>;

// Prints the formats of the options with `print`, and writes them: to --output or else, after the text `before`, to
// `descriptor` (also if --output cannot be written), and to the extra outputs. A negative descriptor: only to files.
// Throws Error at the end if a file could not be written.
void WriteFormats(const Options& options, const PrintFunction& print, int descriptor = 1,
                  const std::string& before = "");
void WriteReport(const Report& report, const Options& options, int descriptor, const std::string& before = "");

class OutputFiles {
 public:
  // Throws Error if an output cannot be written, so that a job or a long batch does not start in vain, or if it is
  // another output or a file that the options read (inputs, lists, rule files).
  explicit OutputFiles(const Options& options);

  // Throws Error if `path`, which is about to be read, is an output.
  void ThrowIfOutput(const std::string& path) const;

 private:
  std::set<std::pair<unsigned long long, unsigned long long>> files_;  // device and inode of outputs that exist
};

}  // namespace whyoom
