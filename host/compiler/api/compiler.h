// The compiler as the services and the command line see it. main() makes one and passes it on. A client without a
// compiler passes none, and whatever needs one says so (expect_compiler).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crosscompile/ir/function.h"
#include "ferry/blob_source.h"
#include "ferry/hash.h"
#include "ferry/lang/program.h"
#include "ferry/schedule/point_text.h"
#include "ferry/schedule/schedule_text.h"
#include "ferry/target/target.h"
#include "host/compiler/api/code_tools.h"
#include "host/compiler/api/host_kernel.h"
#include "host/compiler/api/network.h"
#include "host/compiler/api/space_point.h"
#include "host/compiler/api/target_resolver.h"
#include "host/compiler/api/tuned_schedules.h"
#include "module/manifest.h"

namespace ferry {

using SizesByName = std::map<std::string, std::int64_t>;

// A schedule that tuning has found for one of several programs.
struct TunedFunction {
  std::size_t program = 0;
  TunedSchedule schedule = {};
  // The program with all its sizes fixed, where the schedule is for these alone: the module then has code for them
  // beside that for any sizes, and the function's plan compares. Otherwise the schedule is the program's own.
  std::optional<lang::Program> fixed = {};
  SizesByName sizes = {};  // those
};

// The functions of a text, and how to compute them. Borrows the programs.
struct Scheduled {
  std::span<const lang::Program> programs;
  std::optional<ScheduleText> schedule = {};  // nothing: default schedules
  bool unscheduled = false;                   // serial loops in source order instead
  SizesByName sizes = {};                     // those that are known, for default schedules
  std::vector<std::string> others = {};       // functions beside `programs` that schedule or point may have parts for
  std::optional<PointText> point = {};        // in place of the default schedules' points; never beside a schedule
  // In place of default schedules, or of the first choices of the schedule's knobs; never beside a point.
  std::vector<TunedFunction> tuned = {};
};

struct CompileRequest {
  Scheduled scheduled;
  const Target& target;
  std::string source = {};           // stored in the module for people to read
  CodeForm form = CodeForm::linked;  // relinkable: for CodeTools::link_module(); relocatable: for export_code()
};

struct Compiled {
  Bytes module;                                  // a .ferry file without the contents of its blobs
  std::vector<std::string> notes = {};           // on directives without effect on the target
  std::vector<std::string> module_notes = {};    // on the devices that the module is for
  std::shared_ptr<const BlobSource> blobs = {};  // contents of its blobs, if it has any
};

// The stages of compilation that can be shown: of networks all but space, point and object, of kernels all but graph,
// groups and plan.
enum class Stage { graph, groups, schedule, space, point, loops, plan, c, opencl, cuda, ptx, llvm, assembly, object };

struct NetworkRequest {
  const Target& target;
  SizesByName sizes = {};                 // those that are known, for default schedules
  CodeForm form = CodeForm::linked;       // as of CompileRequest
  const TunedSchedules* tuned = nullptr;  // for its kernels, in place of default schedules; may be null
};

// The file that a C program links: an object, or a static or shared library of it.
enum class ExportForm : std::uint8_t { object, archive, shared };

struct ExportRequest {
  std::span<const std::uint8_t> module;  // compiled as relocatable
  const BlobSource* blobs = nullptr;     // null if it has no blobs
  const Target& target;
  std::string name = {};  // prefix of the files and the C functions; empty: the function's name
  ExportForm form = ExportForm::object;
  bool weights_file = false;  // weights in a file of their own
  SizesByName sizes = {};     // sizes of the call in the example
};

struct ExportedFile {
  std::string name;
  Bytes bytes;
};

// A tensor of nodes: the parameter of the network's function that holds its contents, or these themselves.
struct NodeTensor {
  std::size_t parameter = 0;
  std::span<const std::uint8_t> constant = {};
  bool is_constant = false;
  // For nodes in loops: the bytes from one iteration's contents to the next, for each loop.
  std::vector<std::int64_t> strides = {};
};

// The algorithm by which a kernel computes its nodes, if it rounds differently from their definition.
struct NodeAlgorithm {
  lang::Program program;              // with the parameters of the definition
  std::vector<std::int64_t> symbols;  // the program's symbols
};

// The nodes that one kernel computes as a program of the kernel language, for the reference evaluation.
struct NodeProgram {
  std::string node;  // their names
  lang::Program program;
  std::vector<std::int64_t> symbols;  // the program's symbols
  std::vector<std::int64_t> scalars;  // the values of its scalar parameters, in their order
  std::vector<NodeTensor> tensors;    // its tensor parameters in order; the output is the last
  std::optional<NodeAlgorithm> algorithm = {};
  std::vector<std::int64_t> counts = {};  // iterations of the enclosing loops, the outermost first
  // One for each enclosing loop that a condition ends: whether an iteration ran, a bool.
  std::vector<NodeTensor> conditions = {};
  std::int64_t channels = 0;  // the channels of a result in blocks, [N, blocks, H, W, lanes]; 0: it has no blocks
};

// A kernel of a network as a program by itself, with all sizes fixed, under which a TunedSchedules finds its schedule.
struct NetworkProgram {
  std::string kernel;  // its name in the network: what the steps call it, unless they run "KERNEL_tuned" in its place
  lang::Program program;
  std::vector<std::string> nodes;  // the names of what each call computes
  std::string algorithm = {};      // the compiler's choice, "direct"; empty: there is none
  std::vector<OtherAlgorithm> others = {};
};

// How the groups of a network may lie in memory (host/graph/passes/layout_problem.h).
struct NetworkLayouts {
  struct Group {
    std::string node;               // the names of what it computes
    bool may_be_blocked = false;    // otherwise it is plain
    double plain = 0, blocked = 0;  // the estimated times of both, in one unit for all
  };
  // How much longer two groups take if their layouts differ. The number of groups stands for what is always plain.
  struct Conversion {
    std::size_t one = 0, other = 0;
    double cost = 0;
  };
  LayoutQuestion question;
  std::vector<Group> groups;
  std::vector<Conversion> conversions;
};

struct Emission {
  std::string text;            // the bytes of an object
  std::string json = {};       // the same for programs, an array with an entry for each function; only of a space
  std::string extension = {};  // the usual end of a file's name, such as ".cl"; empty: usually printed
  std::vector<std::string> notes = {};
};

// A network that a compiler read from a file. Throws CompileError as the compiler does.
class Network {
 public:
  virtual ~Network() = default;
  // Returns its function as it is called, without the plan.
  virtual const FunctionInfo& function() const = 0;
  virtual Compiled compile(const NetworkRequest& request) const = 0;
  // Returns the hash of everything that the result of compile() depends on: the files of the network and the compiler
  // with its version. Nothing if a file has changed since it was read.
  virtual std::optional<Hash> identity(const NetworkRequest& request) const = 0;
  // Returns how records of tuning know it: values of weights, and names of nodes and tensors have no part in this.
  virtual NetworkIdentity network_identity() const = 0;
  // Shows a stage: of the whole network, or of each kernel beneath the names of its nodes. `after` is as of
  // KernelCompiler::emit(). There is neither one object nor one space with its point.
  virtual Emission emit(Stage stage, const NetworkRequest& request, const std::string& after = {}) const = 0;

  // Returns the kernels that tuning can find schedules for, once each. Those that run beside the target's device, or in
  // sizes that are not known, are left out, as are algorithms whose errors may exceed the network's limit.
  virtual std::vector<NetworkProgram> kernels(const NetworkRequest& request) const = 0;

  // Returns the layouts among which the compiler chooses for a call with these sizes; no groups where it has no choice.
  virtual NetworkLayouts layouts(const NetworkRequest& request) const = 0;
  // Returns those that take the least time if groups and conversions take so long.
  virtual std::string least_cost_layouts(const NetworkLayouts& layouts) const = 0;

  virtual const NetworkSource& source() const = 0;
  virtual const NetworkNames& names() const = 0;
  // Reads the file again, and returns the network with these tensors (NetworkNames::tensors) as further outputs.
  virtual std::shared_ptr<const Network> with_outputs(const std::vector<std::string>& tensors) const = 0;
  // Returns a network with what each kernel computes as a further output, compiled for this target where calls are
  // expected to have these sizes, with the algorithms that are known for its kernels, if any are.
  virtual std::shared_ptr<const Network> with_all_outputs(const Target& target, const SizesByName& sizes,
                                                          const TunedSchedules* tuned) const = 0;
  // Returns the nodes of such a network, in order, a program for those that one kernel computes, for a call with these
  // sizes. They refer to the network.
  virtual std::vector<NodeProgram> nodes(const SizesByName& sizes) const = 0;
};

// A kernel in another language: C, C++, LLVM IR, assembly, an object or CUDA C.
struct ForeignSource {
  std::string file;
  std::vector<std::string> signatures;  // texts; none: those in the comments of the source
  std::vector<std::string> flags;       // for its compiler
  std::string source;                   // empty for an object
  std::string launch = {};              // for CUDA C, in place of what stands behind the signatures
};

// A function of such a kernel.
struct ForeignFunction {
  FunctionInfo info;
  std::string signature;    // as the user wrote it, with a launch behind it if there was one
  bool has_launch = false;  // always for CUDA C that can be called
};

// One call of a foreign kernel under sanitizers. Lists have one entry for each parameter.
struct SanitizedArgument {
  std::uint64_t scalar_bits = 0;
  Bytes bytes;  // the tensor's contents
};
struct SanitizedRun {
  std::string report;          // what the sanitizers found; empty: nothing
  std::string mistake;         // its main line, or that the function returned a failure; empty: none
  std::vector<Bytes> outputs;  // empty for parameters that are not written
  // How the program and its compiler were not confined: "this kernel has no Landlock". Usually empty.
  std::vector<std::string> not_confined = {};
};

// A kernel whose loops, blocks and threads are executed step by step.
struct InterpretedKernel {
  FunctionInfo info;
  Target target;                        // the target it was compiled for
  std::vector<std::string> notes = {};  // on directives without effect on the target
  // Takes the addresses of the parameters in order, then those of the symbols. Returns the mistake that the kernel made
  // or reported, or an empty text.
  std::function<std::string(void* const* arguments)> run;
};

// The second of the three parts of a Compiler.
class KernelCompiler {
 public:
  virtual ~KernelCompiler() = default;

  // Returns the function that a program becomes, as it is called.
  virtual FunctionInfo describe(const lang::Program& program) const = 0;
  virtual Compiled compile(const CompileRequest& request) const = 0;
  // Compiles loops that are given directly to a .ferry file.
  virtual Bytes compile(std::span<const ir::Function> functions, const Target& target) const = 0;
  // Turns a module into an object, a header and an example for C programs.
  virtual std::vector<ExportedFile> export_code(const ExportRequest& request) const = 0;
  // `after` names the pass after which Stage::loops shows the loops, or Stage::graph the network; empty: as lowered,
  // and simplified, or after all passes.
  virtual Emission emit(Stage stage, const CompileRequest& request, const std::string& after = {}) const = 0;
  // Returns the names of the schedule's knobs, and the values that it lists for each.
  virtual std::map<std::string, std::vector<std::string>> knobs_of(const ScheduleText& schedule) const = 0;
  // Takes one program without a schedule, and returns its point with the space there. Throws CompileError for a point
  // outside of the space.
  virtual SpacePoint space_at(const Scheduled& scheduled, const Target& target) const = 0;
  // Takes one program whose sizes are fixed, and returns how many cycles of one core a call takes with so many threads,
  // as the cost model says without compiling it (crosscompile/cost); nothing for what it does not model: targets
  // without a CPU, open sizes, and schedules that cannot be carried out.
  virtual std::optional<double> estimated_cycles(const Scheduled& scheduled, const Target& target,
                                                 std::uint32_t threads) const = 0;
  // The same, but compiles it, and takes the cycles of computing from the machine code (codegen::code_cycles). Nothing
  // also where LLVM has no good model of the core.
  virtual std::optional<double> code_cycles(const Scheduled& scheduled, const Target& target,
                                            std::uint32_t threads) const = 0;
  // Takes one program. Without `target` it is this machine, or OpenCL where the schedule binds loops to threads.
  virtual InterpretedKernel interpret(const Scheduled& scheduled, const Target* target) const = 0;
  // Takes one program. Compiles it for this machine and loads it into this process.
  virtual HostKernel load(const Scheduled& scheduled) const = 0;

  // Describes a network. What is not supported is part of the summary.
  virtual NetworkSummary inspect(const NetworkSource& source) const = 0;
  virtual std::shared_ptr<const Network> read(const NetworkSource& source) const = 0;

  // Returns the functions of the signatures; none when neither the options nor the source have one.
  virtual std::vector<ForeignFunction> describe(const ForeignSource& source) const = 0;
  // Returns the bytes of a .ferry file. The form is linked or relinkable; shared objects stay linked.
  virtual Bytes compile(const ForeignSource& source, const Target& target, CodeForm form) const = 0;
  // Compiles one function for this machine or, in CUDA C, for the target's GPU, which is interpreted. The result runs
  // the call that was described, and ends it after so many seconds.
  virtual std::function<SanitizedRun(double)> sanitize(const ForeignSource& source, const std::string& function,
                                                       const Target& target,
                                                       const std::vector<SanitizedArgument>& arguments,
                                                       const std::vector<std::int64_t>& symbols) const = 0;
};

// Everything throws CompileError for a mistake of the user. Stateless: threads may share one. What needs one part alone
// takes that.
class Compiler : public TargetResolver, public KernelCompiler, public CodeTools {};

// Returns the compiler. Where there is none, throws UsageError that says what needs it and what to do instead.
const Compiler& expect_compiler(const Compiler* compiler, const std::string& what);

// Whether CodeTools::link_module() takes the module: it has code that was compiled as relinkable.
bool can_relink(std::span<const std::uint8_t> module);

// Whether the file's extension names a kernel in another language.
bool is_foreign(const std::string& file);
// Whether it names a kernel in CUDA C, which is for GPUs alone.
bool is_cuda_source(const std::string& file);

}  // namespace ferry
