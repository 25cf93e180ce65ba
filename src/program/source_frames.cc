#include "program/source_frames.h"

#include <charconv>
#include <optional>

namespace whyoom {
namespace {

constexpr std::size_t kMaxRows = 500000;
constexpr std::size_t kMaxGap = 1000;  // rows are numbered without gaps; damage must not ask for memory

std::optional<int> TakeFrameNumber(std::string_view* text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  return number;
}

// The number after "key=", 0 where there is none.
int NumberOf(std::string_view row, std::string_view key) {
  const std::size_t at = row.find(key);
  if (at == std::string_view::npos) return 0;
  row.remove_prefix(at + key.size());
  return TakeFrameNumber(&row).value_or(0);
}

template <class Row>
bool Set(int id, const Row& row, std::vector<Row>* rows) {
  const auto at = static_cast<std::size_t>(id);
  if (at >= kMaxRows || at > rows->size() + kMaxGap) return false;
  if (at >= rows->size()) rows->resize(at + 1);
  (*rows)[at] = row;
  return true;
}

template <class Row>
Row Get(const std::vector<Row>& rows, int id) {
  return static_cast<std::size_t>(id) < rows.size() ? rows[static_cast<std::size_t>(id)] : Row();
}

std::optional<std::string_view> Quoted(std::string_view row) {
  if (row.size() < 2 || row.front() != '"' || row.back() != '"') return std::nullopt;
  return row.substr(1, row.size() - 2);
}

}  // namespace

bool SourceTables::Read(std::string_view line) {
  if (line.empty()) return true;
  const Table before = table_;
  if (line == "FileNames") table_ = Table::kFiles;
  if (line == "FunctionNames") table_ = Table::kFunctions;
  if (line == "FileLocations") table_ = Table::kLocations;
  if (line == "StackFrames") table_ = Table::kFrames;
  if (table_ != before) return true;
  if (table_ == Table::kNone || line[0] < '0' || line[0] > '9') return false;
  const std::optional<int> id = TakeFrameNumber(&line);
  if (!id || !line.starts_with(' ') || !ReadRow(*id, line.substr(1))) whole_ = false;
  return true;
}

bool SourceTables::ReadRow(int id, std::string_view row) {
  if (table_ == Table::kFiles || table_ == Table::kFunctions) {
    const std::optional<std::string_view> name = Quoted(row);
    return name && Set(id, arena_.Keep(*name), table_ == Table::kFiles ? &files_ : &functions_);
  }
  if (!row.starts_with('{') || !row.ends_with('}')) return false;
  if (table_ == Table::kLocations) {
    const Location location = {NumberOf(row, "file_name_id="), NumberOf(row, "function_name_id="),
                               NumberOf(row, " line=")};
    return Set(id, location, &locations_);
  }
  const Frame frame = {NumberOf(row, "file_location_id="), NumberOf(row, "parent_frame_id=")};
  // XLA prints parents one too high: no frame calls itself.
  if (frame.parent == id) parents_are_high_ = true;
  return Set(id, frame, &frames_);
}

std::vector<SourceFrame> SourceTables::Frames() const {
  std::vector<SourceFrame> frames(1);
  frames.resize(std::max<std::size_t>(1, frames_.size()));
  for (std::size_t id = 1; id < frames_.size(); ++id) {
    const Location location = Get(locations_, frames_[id].location);
    const int parent = frames_[id].parent - (parents_are_high_ ? 1 : 0);
    frames[id].file = Get(files_, location.file);
    frames[id].function = Get(functions_, location.function);
    frames[id].line = location.line;
    frames[id].parent = parent > 0 && static_cast<std::size_t>(parent) < id ? parent : 0;
  }
  return frames;
}

}  // namespace whyoom
