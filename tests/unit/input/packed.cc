#include "packed.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

#include "catch.h"
#include "input/members.h"

namespace whyoom {
namespace {

la_ssize_t Append(archive*, void* to, const void* bytes, std::size_t size) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

void AddFile(archive* writer, const PackedFile& file, std::size_t size) {
  const bool folder = file.name.ends_with('/');
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, file.name.c_str());
  archive_entry_set_filetype(entry, folder ? AE_IFDIR : AE_IFREG);
  archive_entry_set_perm(entry, 0644);
  archive_entry_set_size(entry, static_cast<la_int64_t>(size));
  REQUIRE(archive_write_header(writer, entry) >= ARCHIVE_WARN);
  REQUIRE(archive_write_data(writer, file.bytes.data(), file.bytes.size()) ==
          static_cast<la_ssize_t>(file.bytes.size()));
  archive_entry_free(entry);
}

std::string Write(const std::string& format, const std::string& filter, const std::vector<PackedFile>& files,
                  const std::string& options) {
  std::string packed;
  archive* writer = archive_write_new();
  REQUIRE(archive_write_set_format_by_name(writer, format.c_str()) == ARCHIVE_OK);
  if (!filter.empty()) REQUIRE(archive_write_add_filter_by_name(writer, filter.c_str()) == ARCHIVE_OK);
  if (!options.empty()) REQUIRE(archive_write_set_options(writer, options.c_str()) == ARCHIVE_OK);
  archive_write_set_passphrase(writer, "secret");
  archive_write_set_bytes_in_last_block(writer, 1);
  REQUIRE(archive_write_open2(writer, &packed, nullptr, &Append, nullptr, nullptr) == ARCHIVE_OK);
  for (const PackedFile& file : files) AddFile(writer, file, file.bytes.size());
  REQUIRE(archive_write_close(writer) == ARCHIVE_OK);
  archive_write_free(writer);
  return packed;
}

ReadBack Read(std::unique_ptr<ByteSource> input, const Limits& limits) {
  ReadBack result;
  Members members({"input", ""}, std::move(input), limits);
  for (Artifact artifact; ByteSource* source = members.Next(&artifact);) {
    CHECK(artifact.path == "input");
    std::string text;
    std::vector<char> buffer(100'000);
    while (const std::size_t got = source->Read(buffer.data(), buffer.size())) text.append(buffer.data(), got);
    CHECK(source->Read(buffer.data(), buffer.size()) == 0);
    result.pieces.push_back({artifact.member, std::move(text)});
  }
  for (const Problem& problem : members.TakeProblems()) result.problems.push_back(problem.member + ": " + problem.what);
  result.may_differ = members.may_differ();
  return result;
}

}  // namespace

std::string Compress(const std::string& filter, const std::string& bytes) {
  if (filter == "lz4" && bytes.empty())
    return {"\x04\x22\x4d\x18\x64\x40\xa7\0\0\0\0\x05\x5d\xcc\x02", 15};  // libarchive crashes
  return Write("raw", filter, {{"data", bytes}}, "");
}

std::string Archive(const std::string& format, const std::vector<PackedFile>& files, const std::string& options) {
  return Write(format, "", files, options);
}

ReadBack Unpack(const std::string& bytes, const Limits& limits, std::size_t chunk) {
  return Read(OpenMemory(bytes, chunk), limits);
}

ReadBack UnpackFile(const std::string& path, const Limits& limits) { return Read(OpenFile(path), limits); }

std::vector<std::string> Lines(const ReadBack& read) {
  std::vector<std::string> lines;
  for (const Piece& piece : read.pieces) lines.push_back(piece.member + ": " + piece.text);
  return lines;
}

}  // namespace whyoom
