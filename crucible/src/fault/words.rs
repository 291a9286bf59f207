//! What programs print when they fail of what is around them, each with its exit code and the ids
//! that name it rightly.

/// One way to fail: exit code, words, ids.
pub(super) type Words = (i32, &'static str, &'static [&'static str]);

const LOADER: &[&str] = &["code.data_loader"];
const PROGRAM: &[&str] = &["code.exception", "code.config_or_input"];
const SECRET: &[&str] = &["dep.secret_or_config"];
const STORE: &[&str] = &["dep.storage", "dep.service"];
const VERSION: &[&str] = &["code.version_mismatch"];

/// Workers of a data loader.
pub(super) const LOADERS: &[Words] = &[
    (
        1,
        "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\nTraceback (most recent call last):\n  File \"/workspace/train.py\", line 171, in main\n    for batch in loader:\n  File \"/usr/lib/python3/dist-packages/torch/utils/data/dataloader.py\", line 1133, in _try_get_data\nRuntimeError: DataLoader worker (pid 4121) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.",
        LOADER,
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 171, in main\n    for batch in loader:\nRuntimeError: DataLoader worker (pid(s) 4121, 4122) exited unexpectedly",
        LOADER,
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/data.py\", line 90, in share\n    return torch.empty(shape).share_memory_()\nRuntimeError: unable to write to file </torch_4121_77182_3>: No space left on device (28)",
        LOADER,
    ),
    // The program's own mistake, in a worker that lives.
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 171, in main\n    for batch in loader:\nKeyError: Caught KeyError in DataLoader worker process 3.\nOriginal Traceback (most recent call last):\n  File \"/workspace/data.py\", line 64, in __getitem__\n    return row[\"tokens\"]\nKeyError: 'tokens'",
        PROGRAM,
    ),
];

/// Limits of files, processes and pinned memory.
pub(super) const LIMITS: &[Words] = &[
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/data.py\", line 31, in open_shard\n    return open(path, \"rb\")\nOSError: [Errno 24] Too many open files: '/mnt/data/shard-000917.tar'",
        PROGRAM,
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 88, in main\n    pool = ThreadPoolExecutor(512)\n  File \"/usr/lib/python3.12/threading.py\", line 994, in start\n    _start_new_thread(self._bootstrap, ())\nRuntimeError: can't start new thread",
        PROGRAM,
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/data.py\", line 18, in convert\n    subprocess.run([\"ffmpeg\", path])\n  File \"/usr/lib/python3.12/subprocess.py\", line 1885, in _execute_child\n    self.pid = _fork_exec(\nBlockingIOError: [Errno 11] Resource temporarily unavailable",
        PROGRAM,
    ),
    (
        1,
        "trainer:188:412 [3] transport/net_ib.cc:780 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory\n[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File \"/workspace/train.py\", line 60, in main\n[rank{rank}]:     dist.all_reduce(t)\n[rank{rank}]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3384, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.27.3",
        PROGRAM,
    ),
];

/// Credentials and certificates that are no longer good.
pub(super) const CREDENTIALS: &[Words] = &[
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/ckpt.py\", line 61, in save\n    s3.upload_file(path, \"lab-ckpt\", key)\nbotocore.exceptions.ClientError: An error occurred (ExpiredToken) when calling the PutObject operation: The provided token has expired.",
        SECRET,
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/data.py\", line 12, in fetch\n    blob.download_to_file(f)\ngoogle.auth.exceptions.RefreshError: ('invalid_grant: Token has been expired or revoked.', {'error': 'invalid_grant', 'error_description': 'Token has been expired or revoked.'})",
        SECRET,
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/reward.py\", line 55, in score\n    reply = requests.post(URL, json=batch, timeout=30)\nrequests.exceptions.SSLError: HTTPSConnectionPool(host='reward.lab.example', port=443): Max retries exceeded with url: /score (Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1010)')))",
        &["dep.secret_or_config", "dep.service"],
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/data.py\", line 12, in fetch\n    s3.get_object(Bucket=\"lab-data\", Key=key)\nbotocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the GetObject operation: Access Denied",
        SECRET,
    ),
];

/// Stores and services that take no more requests.
pub(super) const RATES: &[Words] = &[
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/ckpt.py\", line 61, in save\n    s3.put_object(Bucket=\"lab-ckpt\", Key=key, Body=part)\nbotocore.exceptions.ClientError: An error occurred (SlowDown) when calling the PutObject operation (reached max retries: 4): Please reduce your request rate.",
        STORE,
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/ckpt.py\", line 70, in publish\n    blob.upload_from_filename(path)\ngoogle.api_core.exceptions.TooManyRequests: 429 POST https://storage.googleapis.com/upload/storage/v1/b/lab-ckpt/o?uploadType=multipart: The object lab-ckpt/latest exceeded the rate limit for object mutation operations (create, update, and delete). Please reduce your request rate.",
        STORE,
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 22, in load\n    model = AutoModel.from_pretrained(name)\nhuggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/models/lab/base/tree/main",
        STORE,
    ),
];

/// What an image was built for is not what it finds.
pub(super) const VERSIONS: &[Words] = &[
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 40, in setup\n    torch.cuda.init()\nRuntimeError: The NVIDIA driver on your system is too old (found version 11080). Please update your GPU driver by downloading and installing a new version from the URL: http://www.nvidia.com/Download/index.aspx Alternatively, go to: https://pytorch.org to install a PyTorch version that has been compiled with your version of the CUDA driver.",
        VERSION,
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 43, in setup\n    x = torch.zeros(8, device=\"cuda\")\nRuntimeError: CUDA error: no kernel image is available for execution on the device\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.",
        VERSION,
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 40, in setup\n    n = torch.cuda.device_count()\nRuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 803: system has unsupported display driver / cuda driver combination",
        &["code.version_mismatch", "node.driver"],
    ),
    (
        1,
        "trainer:71:99 [0] init.cc:1080 NCCL WARN Mismatched NCCL version detected : rank 0 version 22703 rank 1 version 21903\n[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File \"/workspace/train.py\", line 58, in main\n[rank{rank}]:     dist.barrier()\n[rank{rank}]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.cpp:94, invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.27.3",
        VERSION,
    ),
    (
        255,
        "exec /usr/local/bin/torchrun: exec format error",
        &["code.version_mismatch", "code.config_or_input"],
    ),
    (
        1,
        "RuntimeError: CUDA driver version is insufficient for CUDA runtime version",
        VERSION,
    ),
];

/// No licence is left.
pub(super) const LICENCES: &[Words] = &[
    (
        1,
        "License checkout failed.\nLicense Manager Error -4\nMaximum number of users for Simulator reached.\nTry again later.",
        &["dep.licence"],
    ),
    (
        1,
        "FlexNet Licensing error:-4,132\nLicensed number of users already reached.",
        &["dep.licence"],
    ),
];

/// Somebody's clock is wrong.
pub(super) const CLOCKS: &[Words] = &[
    (
        1,
        "fetch: Get \"https://storage.lab.example/tokens\": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time {now} is before {later}",
        &["node.clock"],
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/data.py\", line 12, in fetch\n    s3.get_object(Bucket=\"lab-data\", Key=key)\nbotocore.exceptions.ClientError: An error occurred (RequestTimeTooSkewed) when calling the GetObject operation: The difference between the request time and the current time is too large.",
        &["node.clock"],
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/auth.py\", line 9, in claims\n    return jwt.decode(token, key, algorithms=[\"RS256\"])\njwt.exceptions.ImmatureSignatureError: The token is not yet valid (iat)",
        &["node.clock", "dep.secret_or_config"],
    ),
];

/// Megatron's machine that runs a step again where its result is odd.
pub(super) const RERUNS: &[Words] = &[
    (
        17,
        "WARNING:megatron.core.rerun_state_machine:Unexpected result nan on rank {rank} at iteration #{step} invocation #1 (message='loss is NaN')\nWARNING:megatron.core.rerun_state_machine:Second rerun: unexpected result is not reproducible on a different GPU, therefore was likely incorrect (2.113 != nan)\nERROR:megatron.core.rerun_state_machine:Rank {rank}, node {node}, device 3, iteration #{step}: Possible persistent error!",
        &["hw.silent_corruption"],
    ),
    (
        16,
        "WARNING:megatron.core.rerun_state_machine:Unexpected result nan on rank {rank} at iteration #{step} invocation #1 (message='loss is NaN')\nWARNING:megatron.core.rerun_state_machine:First rerun: unexpected result is not reproducible within the tolerance (2.113 != nan)\nERROR:megatron.core.rerun_state_machine:Rank {rank}, node {node}, device 3, iteration #{step}: Possible transient error!",
        &["hw.silent_corruption"],
    ),
    // The same result on another GPU: the program's own.
    (
        17,
        "WARNING:megatron.core.rerun_state_machine:Unexpected result nan on rank {rank} at iteration #{step} invocation #1 (message='loss is NaN')\nWARNING:megatron.core.rerun_state_machine:Second rerun: unexpected result is reproducible on a different GPU, therefore it was likely correct (nan = nan)\nERROR:megatron.core.rerun_state_machine:Rank {rank}, node {node}, device 3, iteration #{step}: Correct result (but possible Application error) (loss is NaN)!",
        &["code.divergence", "code.exception"],
    ),
];
