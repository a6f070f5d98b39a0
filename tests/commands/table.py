"""How each command of the pages is tested: the first row whose pattern matches the whole line decides. On the cluster
the lines of the rows run from top to bottom, and all that only read come first."""
import dataclasses
import re

LOOK = "on the cluster: looks"
CHANGE = "on the cluster: changes something"
TRY = "on the cluster, with --dry-run=server: what is installed stays"
LOCAL = "on this machine"
NOT_HERE = "not run"

# The nodes that the commands name, see cases/commands.py: one whose remediation waits for an approval and gets it, one
# whose remediation is cancelled, and a healthy one.
APPROVED, CANCELLED, HEALTHY = "gpu-3", "gpu-2", "gpu-1"


# Files that the commands take from you: the name, and the file of the tree that replaces it.
FILES = {"policy.yaml": "manifests/packaging/policy.yaml", "FILE": "manifests/packaging/exporter.yaml",
         "kernel.log": "tests/testdata/kernel_log/corpus.txt"}

# Labels of blocks that are not run (`sh kind`), and why.
LABELS = {"kind": "needs docker, and clusters in containers"}


@dataclasses.dataclass(frozen=True)
class Row:
    pattern: str
    how: str
    why: str = ""          # NOT_HERE: why not
    prints: str = ""       # text that the output must contain
    phase: str = ""        # of the node's Remediation afterwards, as a pattern
    node: str = APPROVED
    exits: tuple = (0,)


# Commands that ask for a confirmation on a terminal, which the test does not have.
ASKS = re.compile(r"(?m)^.*\b(?:gpuwardctl|kubectl gpuward) (?:.* )?(?:cancel|machine-replaced|breaker close|reset)\b"
                  r"(?!.*(?:--yes|--dry-run)).*$")

REMEDIATOR = r"kubectl (?:-n gpuward exec|exec -n gpuward) deploy(?:ment)?/gpuward-remediator -- "
EXPORTER = r"(?:ssh \S+ [^|]*\| )?kubectl (?:-n gpu-healthcheck exec|exec -n gpu-healthcheck) (?:-i )?\S+ -- "
CTL = rf"(?:{REMEDIATOR})?(?:gpuwardctl|kubectl gpuward) (?:--kubeconfig \S+ )?"
KUBECTL = r"kubectl (?:-n \S+ )?"

ROWS = (
    # ---- not run
    Row(r"(?:sudo )?(?:timeout \d+ )?(?:nvidia-smi|nvidia-bug-report\.sh|amd-smi|lspci|lsmod|fi_info|systemctl|journalctl)\b.*|"
        r"ps -eo .*|tail .*fabricmanager\.log", NOT_HERE, "on a node with the vendor's driver"),
    Row(rf"(?:{EXPORTER})?gpuward-exporter check .*--exclusive", NOT_HERE, "loads GPUs with the vendor's diagnostics"),
    Row(r".*(?:>> /simulated/kernel\.log; .*|> /simulated/lost)'", NOT_HERE, "needs the values of manifests/samples/simulated-gpus.yaml"),
    Row(rf"(?:{EXPORTER})?gpuward-exporter gpu-release.*", NOT_HERE,
        "holds the GPUs for minutes; typed by tests/unit/exporter/commands/gpu_release_process_test.cpp"),
    Row(r"kubectl delete (?:daemonset|cronjob|jobs) .*-n gpu-healthcheck.*", NOT_HERE,
        "deletes what the replaced suite has; here gpuward's own CronJob and Jobs have these names"),
    Row(r"kubectl cordon -l gpu-healthcheck.aws-samples.io/status=fail", NOT_HERE, "no node here has the suite's label"),
    Row(r"gpuward-exporter nccl-pair .*", NOT_HERE, "needs two machines with GPUs and NCCL"),
    Row(r".*\$DAEMON\b.*|kubectl get computedomains .*", NOT_HERE, "needs a ComputeDomain of NVIDIA's DRA driver"),
    Row(r".*\$DRIVER\b.*", NOT_HERE, "needs the driver's pod of NVIDIA's GPU operator"),
    Row(r"(?:podman|docker) (?:build|push) .*", NOT_HERE, "tests/image builds these images, and needs no registry"),
    Row(r"kubectl -n \S+ create secret generic (?:\w+-tls|scrape-token|people) .*", NOT_HERE,
        "needs files of yours; tests/cluster/cases/tls.py makes such Secrets"),
    Row(r"cpack .*|apt install .*|install -m .*", NOT_HERE, "tests/packaging installs these packages below a root of its own"),
    Row(r"\./dev .*|build/release/bin/.*|.*\bctest .*|export GPUWARD_NVML=.*", NOT_HERE,
        "builds and starts what this test is a part of"),
    Row(rf"(?:{EXPORTER})?gpuward-exporter inject .*", NOT_HERE, "evicts pods and restarts a node; typed by tests/cluster/cases/game_day.py"),
    Row(r"LOG_ENDPOINT=\S+ gpuward-remediator [^|]*", NOT_HERE,
        "started by tests/unit/remediator/sources_process_test.cpp, as the page has it"),
    Row(r"helm test .*", NOT_HERE, "typed by tests/cluster/cases/releases.py, after an install"),
    Row(r"helm (?:history|rollback) .*", NOT_HERE, "typed by tests/cluster/cases/releases.py, while a node is held"),
    Row(r"helm install .*prometheusOperator\..*", NOT_HERE,
        "needs the kinds of the prometheus-operator; tests/manifests renders it, tests/operator gives it to the operator"),

    Row(r"kubectl delete remediations --all|helm uninstall .*|kubectl delete customresourcedefinition .*", NOT_HERE,
        "typed by tests/cluster/cases/tutorial.py, after which gpuward is installed anew"),

    Row(r"amtool silence expire .*", NOT_HERE, "needs a silence of an Alertmanager"),

    # ---- on this machine
    Row(r"gpuwardctl policy (?:check|schema|explain)(?:(?!--node).)*", LOCAL),
    Row(r"source <\(gpuwardctl completion bash\)", LOCAL),
    Row(r".*alerts/links\.sh < alerts/gpuward\.rules\.yaml", LOCAL, prints="runbook_url: \"https"),

    # ---- looks
    Row(rf"{EXPORTER}gpuward-exporter parse-log", LOOK, prints='"kind":"xid"'),
    Row(rf"{EXPORTER}gpuward-exporter findings list.*", LOOK, prints="reset +xid +95"),
    # A command in a container does not see the cluster's GPUs: a check fails there (1) or has no result (3).
    Row(rf"(?:{EXPORTER})?gpuward-exporter (?:check|preflight)\b.*", LOOK, exits=(0, 1, 3)),
    Row(rf"{EXPORTER}gpuward-exporter amd-health get", LOOK, prints="the socket does not exist", exits=(1, 2)),
    Row(rf"{EXPORTER}gpuward-exporter (?:gpu-users|probe|collect-evidence|--check-config|--version).*", LOOK),
    # Runs after collect-evidence above.
    Row(rf"{EXPORTER}sh -c 'echo /var/lib/gpuward/evidence/\*'", LOOK, prints=r"evidence/\S+\.tar\.gz"),
    Row(rf"{EXPORTER}cat \$ARCHIVE > \S+\.tar\.gz", LOOK),
    Row(rf"{CTL}explain \S+", LOOK, prints="approve"),
    Row(rf"{CTL}(?:status|doctor|list|breaker|runbook|policy check|policy explain|exclusions list|version|replay).*(?<!close)", LOOK),
    Row(rf"{KUBECTL}port-forward .*&\n.*", LOOK),
    Row(rf"{KUBECTL}logs .*\| grep .*", LOOK, exits=(0, 1)),  # nothing found
    Row(r"kubectl label node \S+ --list", LOOK, prints="kubernetes.io/hostname"),
    Row(rf"{KUBECTL}(?:get|describe|logs|auth|events|rollout status)\b.*", LOOK),
    Row(rf"{REMEDIATOR}gpuward-remediator --check-config .*", LOOK),
    Row(rf"{REMEDIATOR}gpuward-remediator notify test .*", LOOK, prints="there is no sink to test", exits=(2,)),
    Row(r"ssh \S+ journalctl .*", LOOK, prints="NVRM"),
    Row(r"amtool (?:alert|silence) query .*", LOOK),

    # ---- installs
    Row(rf"(?:sed [^|]*\| )?{KUBECTL}apply (?:-f|-k) \S+", TRY),
    Row(r"helm (?:install|upgrade) .*", TRY, prints="STATUS"),
    Row(rf"{KUBECTL}create (?:cluster)?rolebinding gpuward-oncall(?:-reset)? .*", TRY, prints="gpuward-oncall(?:-reset)? created"),
    Row(r"kubectl create -f manifests/remediator-switch\.yaml", TRY, prints="created|AlreadyExists|already exists", exits=(0, 1)),
    Row(r"kubectl create namespace gpuward|kubectl -n gpuward create secret generic gpuward-webhook .*", TRY,
        prints="created|AlreadyExists|already exists", exits=(0, 1)),

    # ---- changes
    Row(rf"{CTL}pause \S+", CHANGE, prints="pause", phase="Paused"),
    Row(rf"{CTL}resume \S+", CHANGE, phase="Waiting"),
    Row(r"kubectl annotate \S+ gpuward\.dev/pause=true", CHANGE, phase="Paused"),
    Row(r"kubectl annotate \S+ gpuward\.dev/pause-", CHANGE, phase="Waiting"),
    Row(r"kubectl label node \S+ gpuward\.dev/managed=false", CHANGE, prints="labeled", node=HEALTHY),
    Row(r"kubectl label node \S+ gpuward\.dev/drill=allowed", CHANGE, prints="labeled", node=HEALTHY),
    Row(r"kubectl label node \S+ gpuward\.dev/drill-", CHANGE, prints="unlabeled", node=HEALTHY),
    Row(r"kubectl label node \S+ gpuward\.dev/managed-", CHANGE, prints="unlabeled", node=HEALTHY),
    Row(r"(?s)for label in .*paused-for-gpuward-reset.*done", CHANGE),
    Row(r"kubectl label node \S+ nvidia\.com/gpu\.deploy\.(?:dcgm-exporter|client)=(?:true|false) --overwrite", CHANGE, prints="labeled",
        node=HEALTHY),
    Row(rf"{CTL}exclude \S+ .*", CHANGE, prints="excluded", node=HEALTHY),
    Row(rf"{CTL}exclusions remove \S+", CHANGE, prints="no longer excluded|is not excluded", node=HEALTHY),
    Row(rf"{CTL}reset --taint \S+(?: --cancel)?(?: --yes)?", CHANGE, prints="trainy.konduktor.ai/faulty"),
    Row(rf"{CTL}stop .*", CHANGE, prints="Stopped: "),
    Row(r""".*patch configmap gpuward-remediator-switch .*"stop":"true".*""", CHANGE, prints="gpuward-remediator-switch"),
    Row(rf"{CTL}approve \S+ \S+", CHANGE, prints="approved"),
    Row(r"kubectl annotate \S+ (?:--overwrite )?gpuward\.dev/approve=.*", CHANGE, prints="annotated"),
    Row(rf"{CTL}start", CHANGE, prints="Started: "),
    Row(r""".*patch configmap gpuward-remediator-switch .*"stop":"false".*""", CHANGE, phase="Verifying|Released"),
    Row(rf"{CTL}machine-replaced \S+", CHANGE, node=CANCELLED),
    Row(rf"{CTL}cancel \S+", CHANGE, prints="[Cc]ancelled", phase="Cancelled", node=CANCELLED),
    Row(r"kubectl annotate \S+ gpuward\.dev/cancel=true", CHANGE, prints="annotated", phase="Cancelled", node=CANCELLED),
    Row(r"kubectl wait --for=condition=Closed remediation/\S+", CHANGE, prints="condition met", node=CANCELLED),
    Row(rf"(?:{EXPORTER})?gpuward-exporter findings clear .*", CHANGE, prints="Cleared|No finding matches|There are no findings", node=CANCELLED, exits=(0, 1)),
    Row(rf"{KUBECTL}delete configmap gpuward-ledger", CHANGE, prints="deleted"),
    Row(rf"{KUBECTL}scale deploy/gpuward-remediator --replicas=2", CHANGE, prints="scaled"),
    # Two pages may do this within a second.
    Row(rf"{KUBECTL}rollout restart .*", CHANGE, prints="restarted|already been triggered", exits=(0, 1)),
    Row(r"kubectl -n gpuward wait --for=create configmap/gpuward-ledger .*", CHANGE, prints="condition met"),
    Row(rf"{CTL}breaker close(?: --yes)?", CHANGE, prints="closed"),
    Row(r"kubectl cordon \S+", CHANGE, prints="cordoned", node=HEALTHY),
    Row(r"kubectl drain \S+ .*", CHANGE, prints="drained", node=HEALTHY),
    Row(r"kubectl uncordon \S+", CHANGE, prints="uncordoned", node=HEALTHY),
    Row(r"kubectl annotate node \S+ (?:gpuward\.dev/\S+-result- ?)+", CHANGE, node=HEALTHY),
    # A label or taint of the replaced suite; no node here has it.
    Row(r"kubectl taint nodes --all gpu-healthcheck\.aws-samples\.io/maintenance:NoSchedule-", CHANGE,
        prints="not found|untainted", node=HEALTHY, exits=(0, 1)),
    Row(r"kubectl (?:label|annotate) nodes --all gpu-healthcheck\.aws-samples\.io/\S+-", CHANGE, node=HEALTHY),
    # The exporters run and write them again.
    Row(r"kubectl label nodes --all (?:gpuward\.dev/\S+- ?)+", CHANGE, prints="unlabeled"),
    Row(r"kubectl annotate nodes --all (?:gpuward\.dev/\S+- ?)+", CHANGE, prints="annotated"),
    Row(r"kubectl -n gpu-healthcheck delete \$POD", CHANGE, prints="deleted", node=HEALTHY),
)


def row_of(line):
    return next((row for row in ROWS if re.fullmatch(row.pattern, line, re.S)), None)
