// Reads archives in a separate process, which may end, hang or send wrong messages.
#include "input/archive/sandboxed_reader.h"

#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "input/byte_source.h"
#include "packed.h"

namespace whyoom {
namespace TEST_FILE {

using worker::Message;
using worker::Record;
using worker::Shared;

constexpr std::size_t kMemory = std::size_t{1} << 27;
const auto kNeverStopped = []() -> std::optional<std::string> { return std::nullopt; };

std::string FileOf(const WorkerProcess& process, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(process.pid()) + "/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns "name: text" of each piece, then the problems.
std::string All(const std::string& bytes, bool sandbox) {
  Limits limits;
  limits.sandbox = sandbox;
  const ReadBack read = Unpack(bytes, limits, 1000);
  std::string all;
  for (const std::string& line : Lines(read)) all += line + "\n";
  for (const std::string& problem : read.problems) all += "! " + problem + "\n";
  return all;
}

// Returns a cpio header with this inode, name size and number of links.
std::string CpioHeader(int file, std::size_t name, int links) {
  char header[111];
  std::snprintf(header, sizeof(header), "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", file, 0100644, 0,
                0, links, 0, 0, 0, 0, 0, 0, static_cast<unsigned>(name), 0);
  return header;
}

// A worker that has sent the messages of `say`. It has ended, unless `continues` is set.
struct Hostile {
  explicit Hostile(const std::function<void(int socket, Shared& shared)>& say, bool continues = false) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    auto* const shared = new (memory) Shared;
    say(ends[1], *shared);
    if (!continues) shutdown(ends[1], SHUT_WR);  // messages to it are still accepted
    other = ends[1];
    process = std::make_unique<WorkerProcess>(-1, ends[0], shared, kMemory);
  }
  ~Hostile() { close(other); }

  // Returns "name: text" of the members, then the problem.
  std::string Read() {
    const std::unique_ptr<ByteSource> source = OpenMemory("any");
    SandboxedReader client(std::move(process), *source, Packing::kTar, {kNeverStopped});
    std::string shown;
    ArchiveMember member;
    for (int members = 0; members < 10 && client.Next(&member); ++members) {
      shown += member.name.substr(0, 10) + ":";
      char bytes[7];
      while (const std::size_t got = client.Read(bytes, sizeof(bytes))) {
        REQUIRE(got <= sizeof(bytes));
        if (shown.size() < 1000) shown.append(bytes, got);
      }
      if (!client.member_problem().empty()) shown += " (" + std::string(client.member_problem()) + ")";
      shown += ";";
    }
    return shown + std::string(client.problem());
  }

  int other = -1;
  std::unique_ptr<WorkerProcess> process;
};

std::size_t Put(Shared& shared, std::size_t at, Record record, const std::string& bytes) {
  std::memcpy(shared.blocks[worker::kInputs].data() + at, &record, sizeof(record));
  std::memcpy(shared.blocks[worker::kInputs].data() + at + sizeof(record), bytes.data(), bytes.size());
  return at + sizeof(record) + bytes.size();
}

TEST_CASE("a process that reads archives can access nothing else", "[input]") {
  setenv("WHYOOM_TEST_SECRET", "secret", 1);
  std::string why_not;
  const std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(kMemory, &why_not);
  unsetenv("WHYOOM_TEST_SECRET");
  INFO(why_not);
  REQUIRE(process);
  CHECK(FileOf(*process, "environ").find("secret") == std::string::npos);
  if (kSanitized) return;
  std::string open;
  DIR* const folder = opendir(("/proc/" + std::to_string(process->pid()) + "/fd").c_str());
  REQUIRE(folder != nullptr);
  while (const dirent* entry = readdir(folder)) open += entry->d_name[0] == '.' ? "" : std::string(entry->d_name) + " ";
  closedir(folder);
  CHECK(open == "0 ");  // the socket
  const std::string limits = FileOf(*process, "limits");
  CHECK(limits.find("Max open files            0                    0") != std::string::npos);
  CHECK(limits.find("Max address space         unlimited") == std::string::npos);
  const std::string status = FileOf(*process, "status");
  CHECK(status.find("NoNewPrivs:\t1\n") != std::string::npos);
  CHECK(status.find("Seccomp:\t2\n") != std::string::npos);
}

TEST_CASE("a worker serves one archive after another, and a killed one is replaced", "[input]") {
  std::string why_not;
  constexpr std::size_t kOwnMemory = kMemory + 1;  // no other test uses this worker
  std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(kOwnMemory, &why_not);
  REQUIRE(process);
  const pid_t pid = process->pid();
  WorkerProcess::PutBack(std::move(process));
  process = WorkerProcess::Get(kOwnMemory, &why_not);
  REQUIRE(process);
  CHECK(process->pid() == pid);
  kill(pid, SIGKILL);
  char nothing;
  CHECK(recv(process->socket(), &nothing, 1, 0) == 0);
  WorkerProcess::PutBack(std::move(process));
  process = WorkerProcess::Get(kOwnMemory, &why_not);
  REQUIRE(process);
  CHECK(process->pid() != pid);
}

TEST_CASE("the end of a worker is reported, after the members before it", "[input]") {
  std::string why_not;
  std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(kMemory + 2, &why_not);
  REQUIRE(process);
  const pid_t pid = process->pid();
  const std::string tar = Archive("ustar", {{"a", "first"}, {"b", std::string(8 << 20, 'x')}, {"c", "third"}});
  const std::unique_ptr<ByteSource> source = OpenMemory(tar);
  SandboxedReader client(std::move(process), *source, Packing::kTar, {kNeverStopped});
  ArchiveMember member;
  REQUIRE(client.Next(&member));
  std::string bytes(100, '\0');
  CHECK(client.Read(bytes.data(), bytes.size()) == 5);
  REQUIRE(client.Next(&member));
  REQUIRE(client.Read(bytes.data(), 1) == 1);
  kill(pid, SIGKILL);
  std::vector<char> rest(1 << 20);
  while (client.Read(rest.data(), rest.size()) > 0) {
  }
  CHECK(client.member_problem() ==
        "the process that unpacks its tar data ended early (signal 9); the rest was not read");
  CHECK_FALSE(client.Next(&member));
  CHECK(client.problem().empty());  // reported once
}

TEST_CASE("a stop while the worker hangs is reported", "[input]") {
  std::string why_not;
  std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(kMemory + 3, &why_not);
  REQUIRE(process);
  kill(process->pid(), SIGSTOP);
  const std::string tar = Archive("ustar", {{"a", "first"}});
  const std::unique_ptr<ByteSource> source = OpenMemory(tar);
  int asked = 0;
  SandboxedReader client(std::move(process), *source, Packing::kTar, {[&]() -> std::optional<std::string> {
                           return ++asked == 2 ? std::optional<std::string>("stopped") : std::nullopt;
                         }});
  ArchiveMember member;
  CHECK_FALSE(client.Next(&member));
  CHECK(asked == 2);
  CHECK(client.problem() == "stopped");
}

TEST_CASE("a worker reads what this process would read", "[input]") {
  std::mt19937 random(7);
  const std::vector<PackedFile> files = {{"a", "first\n"},
                                         {"b/", ""},
                                         {"b/c\xC3\xA9", std::string(300'000, 'c')},
                                         {"d", std::string(70'000, 'd') + "end"}};
  for (const std::string format : {"ustar", "pax", "zip", "newc"}) {
    const std::string whole = Archive(format, files);
    CHECK((All(whole, true) == All(whole, false)));
    for (int i = 0; i < 40; ++i) {
      std::string damaged = whole.substr(0, i % 2 == 0 ? whole.size() : random() % whole.size());
      for (int flips = 0; flips < 3 && !damaged.empty(); ++flips) {
        // Half of them in the first header.
        const std::size_t at =
            random() % (flips % 2 == 0 ? damaged.size() : std::min<std::size_t>(damaged.size(), 600));
        damaged[at] = static_cast<char>(random());
      }
      INFO(format << " " << i);
      CHECK((All(damaged, true) == All(damaged, false)));
    }
  }
}

TEST_CASE("the memory of libarchive is limited", "[input]") {
  if (kSanitized) return;
  // A hundred files with names of a megabyte each, followed by more.
  std::string cpio;
  for (int i = 0; i < 100; ++i)
    cpio += CpioHeader(i, (1 << 20) + 2, 2) + std::to_string(i % 10) + std::string(1 << 20, 'n') + std::string(1, '\0');
  Limits limits;
  limits.memory = 4 << 20;
  const ReadBack read = Unpack(cpio, limits);
  CHECK(read.problems == std::vector<std::string>{": unpacking its cpio data further needs more than 4 MiB "
                                                  "(--max-memory); the rest was not read"});
  limits.memory = std::size_t{1} << 28;
  CHECK(Unpack(cpio, limits).problems != read.problems);
}

TEST_CASE("no message of a compromised worker does harm", "[input]") {
  const auto sent = [](int socket, std::uint32_t block, std::size_t bytes) {
    REQUIRE(worker::Send(socket, {block, static_cast<std::uint32_t>(bytes)}));
  };
  const std::string told = "the process that unpacks its tar data ended early; the rest was not read";
  // Invalid blocks and sizes.
  for (const Message message : {Message{worker::kControl, 100},
                                {worker::kInputs, worker::kBlockBytes + 1},
                                {worker::kBlocks + 1, 0},
                                {UINT32_MAX, UINT32_MAX}}) {
    CHECK(Hostile([&](int socket, Shared&) { sent(socket, message.block, message.bytes); }).Read() == told);
  }
  CHECK(Hostile([&](int socket, Shared&) { REQUIRE(send(socket, "x", 1, 0) == 1); }).Read() == told);
  // Records longer than their block.
  CHECK(Hostile([&](int socket, Shared& shared) {
          std::size_t at = Put(shared, 0, {Record::Kind::kMember, 1, 1, 1}, "a");
          at = Put(shared, at, {Record::Kind::kData, 2, 0, 0}, "xy");
          Put(shared, at, {Record::Kind::kData, 1000, 0, 0}, "z");
          sent(socket, worker::kInputs, at + sizeof(Record) + 1);
        }).Read() == "a:xy (" + told + ");");
  // A name longer than its record, and a record of the wrong kind.
  CHECK(Hostile([&](int socket, Shared& shared) {
          std::size_t at = Put(shared, 0, {Record::Kind::kMember, 1, UINT64_MAX, 1}, "a");
          at = Put(shared, at, {static_cast<Record::Kind>(77), 2, 0, 0}, "xy");
          sent(socket, worker::kInputs, at);
        }).Read() == "a: (" + told + ");");
}

TEST_CASE("a worker that requests input endlessly is stopped, and so is one that reads no answers", "[input]") {
  for (const std::uint32_t block : {0U, worker::kInputs}) {
    Hostile hostile([&](int socket, Shared&) {
      while (worker::Send(socket, {block, 0})) {
      }
    });
    const std::unique_ptr<ByteSource> source = OpenMemory("any");
    int asked = 0;
    SandboxedReader client(std::move(hostile.process), *source, Packing::kTar, {[&]() -> std::optional<std::string> {
                             return ++asked == 3 ? std::optional<std::string>("stopped") : std::nullopt;
                           }});
    ArchiveMember member;
    CHECK_FALSE(client.Next(&member));
    CHECK(client.problem() == "stopped");
  }
  // It sends messages endlessly and reads none of the answers.
  std::optional<int> full;
  Hostile hostile(
      [&](int socket, Shared&) {
        while (worker::Send(socket, {0, 0})) {
        }
        full = socket;
      },
      true);
  const std::unique_ptr<ByteSource> source = OpenMemory("any");
  int answers = 0;
  SandboxedReader client(std::move(hostile.process), *source, Packing::kTar, {[&]() -> std::optional<std::string> {
                           ++answers;
                           worker::Send(*full, {0, 0});
                           return std::nullopt;
                         }});
  ArchiveMember member;
  CHECK_FALSE(client.Next(&member));
  CHECK(answers < 10'000);
  CHECK(client.problem().find("ended early") != std::string::npos);
}

TEST_CASE("a worker without progress is ended by the client's clock", "[input]") {
  const auto ends = [](std::unique_ptr<WorkerProcess> process) {
    const pid_t pid = process->pid();
    const std::string tar = Archive("ustar", {{"a", "text"}});
    const std::unique_ptr<ByteSource> source = OpenMemory(tar);
    SandboxedReader client(std::move(process), *source, Packing::kTar, {kNeverStopped, std::chrono::milliseconds(300)});
    ArchiveMember member;
    while (client.Next(&member)) {
    }
    CHECK(client.problem() ==
          "unpacking its tar data stopped because one step takes more than 0.3 s; the rest was not read");
    CHECK(client.may_differ());
    if (pid > 0) CHECK(kill(pid, 0) != 0);  // it has ended
  };
  std::string why_not;
  std::unique_ptr<WorkerProcess> stopped = WorkerProcess::Get(kMemory + 8, &why_not);
  REQUIRE(stopped);
  kill(stopped->pid(), SIGSTOP);
  ends(std::move(stopped));
  // A compromised worker requests more of the archive endlessly.
  std::thread requests;
  Hostile hostile(
      [&requests](int socket, Shared&) {
        requests = std::thread([socket] {
          Message none;
          while (worker::Send(socket, {0, 0}) && worker::Receive(socket, 1000, &none) == worker::Received::kMessage) {
          }
        });
      },
      true);
  ends(std::move(hostile.process));
  requests.join();
}

TEST_CASE("an idle worker ends with the thread that used it", "[input]") {
  pid_t pid = -1;
  std::thread([&] {
    std::string why_not;
    std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(kMemory, &why_not);
    if (!process) return;
    pid = process->pid();
    WorkerProcess::PutBack(std::move(process));
  }).join();
  REQUIRE(pid > 0);
  CHECK(kill(pid, 0) != 0);
}

TEST_CASE("if a worker ends early, another run may give another result", "[input]") {
  const auto ended = [](int signal) {
    std::string why_not;
    std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(kMemory + 7, &why_not);
    REQUIRE(process);
    kill(process->pid(), signal);
    const std::string tar = Archive("ustar", {{"a", "text"}});
    const std::unique_ptr<ByteSource> source = OpenMemory(tar);
    SandboxedReader client(std::move(process), *source, Packing::kTar, {kNeverStopped});
    ArchiveMember member;
    CHECK_FALSE(client.Next(&member));
    CHECK_FALSE(client.problem().empty());
    return client.may_differ();
  };
  CHECK(ended(SIGKILL));
  CHECK(ended(SIGPROF));  // only the client's clock shows that the input itself takes too long
}

TEST_CASE("a time limit while members are skipped is reported", "[input]") {
  std::string why_not;
  std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(kMemory + 4, &why_not);
  REQUIRE(process);
  const std::string tar = Archive("ustar", {{"a", std::string(16 << 20, 'x')}, {"b", "second"}});
  const std::unique_ptr<ByteSource> source = OpenMemory(tar);
  bool over = false;
  SandboxedReader client(std::move(process), *source, Packing::kTar, {[&]() -> std::optional<std::string> {
                           return over ? std::optional<std::string>("stopped") : std::nullopt;
                         }});
  ArchiveMember member;
  REQUIRE(client.Next(&member));
  char first;
  REQUIRE(client.Read(&first, 1) == 1);
  over = true;
  CHECK_FALSE(client.Next(&member));
  CHECK(client.problem() == "stopped");
}

TEST_CASE("whatever bytes a worker writes, reading ends", "[input]") {
  std::mt19937 random(11);
  for (int run = 0; run < 300; ++run) {
    Hostile hostile([&](int socket, Shared& shared) {
      for (std::size_t i = 0; i < 4096; ++i)
        shared.blocks[worker::kInputs][i] = static_cast<char>(random() % 3 == 0 ? random() : 0);
      for (std::size_t at = 0; at + sizeof(Record) < 4096; at += sizeof(Record) + random() % 40) {
        const Record record{static_cast<Record::Kind>(1 + random() % 6), static_cast<std::uint32_t>(random() % 60),
                            random() % 50, random() % 2};
        std::memcpy(shared.blocks[worker::kInputs].data() + at, &record, sizeof(record));
      }
      for (int messages = 0; messages < 5; ++messages)
        worker::Send(socket, {static_cast<std::uint32_t>(random() % worker::kBlocks),
                              static_cast<std::uint32_t>(random() % 5000)});
    });
    CHECK(hostile.Read().size() < 10'000);
  }
}

}  // namespace TEST_FILE

}  // namespace whyoom
